// Finds the pixels of an image that do not have the colour of its border. Each workgroup looks at
// some of the rows, and writes the region around those that it has found: left, top, right, bottom.
//
//lathe:dtypes u8 f32
//lathe:variant *
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint left; // first column to look at
	uint columns;
	uint top; // first row to look at
	uint rows;
	uint base; // pixel 0 of row 0
	uint pitch;
	uint channels; // floats a pixel, in f32
	uint corner;   // the pixel that has the colour of the border
	uint given;    // 1: the border has the colour below instead
	float red;     // all four in 0..WHITE, multiplied by alpha
	float green;
	float blue;
	float alpha;
	float most; // the largest difference that is none, in 0..WHITE
	uint add;   // 1: the region that was written counts too
} p;

#if defined(U8)
const float WHITE = 65025.0; // 255·255: products of bytes are exact
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
layout(set = 0, binding = 2) readonly buffer Corner { uint corner[]; };
#else
const float WHITE = 1.0;
layout(set = 0, binding = 0) readonly buffer Src { float src[]; };
layout(set = 0, binding = 2) readonly buffer Corner { float corner[]; };
#endif
layout(set = 0, binding = 1) buffer Regions { ivec4 regions[]; };

const ivec4 NOWHERE = ivec4(0x7fffffff, 0x7fffffff, 0, 0);
shared ivec4 found[64];

// weighedPixel is a pixel whose colours are multiplied by alpha: what is transparent has no colour.
#if defined(U8)
vec4 weighedPixel(uint v) {
	float a = float(int(v >> 24));
	return vec4(vec3(ivec3(v & 0xffu, (v >> 8) & 0xffu, (v >> 16) & 0xffu)) * a, a * 255.0);
}
#define WEIGHED(buf, i) weighedPixel(buf[i])
#else
vec4 weighedPixel(vec4 v) { return vec4(v.rgb * v.a, v.a); }
#define WEIGHED(buf, i) weighedPixel(vec4(buf[(i) * channels], buf[(i) * channels + second], buf[(i) * channels + third], \
	mix(1.0, buf[(i) * channels + fourth], channels == 4u)))
#endif

ivec4 both(ivec4 a, ivec4 b) { return ivec4(min(a.xy, b.xy), max(a.zw, b.zw)); }

void main() {
	uint lane = gl_LocalInvocationID.x, channels = p.channels;
	uint second = min(channels - 1u, 1u), third = min(channels - 1u, 2u), fourth = channels - 1u;
	vec4 border = vec4(p.red, p.green, p.blue, p.alpha);
	if (p.given == 0u) border = WEIGHED(corner, p.corner);
	ivec4 region = NOWHERE;
	vec4 most = vec4(p.most);
	for (uint j = gl_WorkGroupID.x; j < p.rows; j += gl_NumWorkGroups.x) {
		uint y = p.top + j, row = p.base + y * p.pitch;
		for (uint i = lane; i < p.columns; i += 64u) {
			uint x = p.left + i;
			bool same = all(lessThanEqual(abs(WEIGHED(src, row + x) - border), most)); // false for NaN
			region = mix(both(region, ivec4(x, y, x + 1u, y + 1u)), region, bvec4(same));
		}
	}
	found[lane] = region;
	barrier();
	if (lane != 0u) return;
	for (uint k = 1u; k < 64u; k++) region = both(region, found[k]);
	if (p.add != 0u) region = both(region, regions[gl_WorkGroupID.x]);
	regions[gl_WorkGroupID.x] = region;
}
