// The buffers of image/blur_grid and image/blur_grid_sums, what their invocations do, and how pixels become floats and floats pixels. FLOATS are
// FLOAT_COUNT neighbours in a row: one, or the four of a texel.

#if defined(TEXEL)
#define FLOATS vec4
const uint FLOAT_COUNT = 4;
#else
#define FLOATS float
const uint FLOAT_COUNT = 1;
#endif

#if defined(REDUCE) && defined(TEXEL)
#define RAW uvec4
layout(set = 0, binding = 0) uniform usamplerBuffer src;
#elif defined(REDUCE)
#define RAW uint
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
#elif defined(TEXEL)
#define RAW vec4
layout(set = 0, binding = 0) uniform samplerBuffer src;
#else
#define RAW float
layout(set = 0, binding = 0) readonly buffer Src { float src[]; };
#endif

#if defined(EXPAND)
#if defined(TEXEL)
layout(set = 0, binding = 1) writeonly buffer Dst { uvec4 dst[]; };
#else
layout(set = 0, binding = 1) writeonly buffer Dst { uint dst[]; };
#endif
#else
layout(set = 0, binding = 1) writeonly buffer Dst { FLOATS dst[]; };
#endif

#if defined(REDUCE) && !defined(ALPHA)
layout(set = 0, binding = 2) writeonly buffer Flags { uint flags[4]; };
#elif defined(EXPAND) && !defined(ALPHA)
#if defined(TEXEL)
layout(set = 0, binding = 2) uniform usamplerBuffer image;
#else
layout(set = 0, binding = 2) readonly buffer Image { uint image[]; };
#endif
#else
layout(set = 0, binding = 2) readonly buffer Flags { uint flags[4]; };
#endif

#if defined(ACROSS) || defined(DOWN)
#if defined(TEXEL)
layout(set = 0, binding = 3) uniform samplerBuffer weights;
#define WEIGHTS(i) texelFetch(weights, int(i))
#define WEIGHTS4(i) texelFetch(weights, int(i))
#else
layout(set = 0, binding = 3) readonly buffer Weights { float weights[]; };
#define WEIGHTS(i) weights[i]
#define WEIGHTS4(i) vec4(weights[4 * (i)], weights[4 * (i) + 1], weights[4 * (i) + 2], weights[4 * (i) + 3])
#endif
#endif

#if defined(TEXEL)
RAW fetch(uint i) { return texelFetch(src, int(i)); }
#else
RAW fetch(uint i) { return src[i]; }
#endif

#if defined(ALPHA)
const uint PARTS = 4;
#else
const uint PARTS = 3;
#endif

#if defined(TEXEL)
#define WORDS uvec4
#define INTS ivec4
#else
#define WORDS uint
#define INTS int
#endif

#if defined(REDUCE)
// A colour is summed where it lies in the word, a power of two times its level, which saves shifts
// and changes no sum. PLACED makes up for it.
#if defined(ALPHA)
const float PLACED[4] = float[](1.0, 1.0 / 256.0, 1.0 / 65536.0, 255.0);
void partsOf(RAW v, out FLOATS c[PARTS]) {
	FLOATS a = FLOATS(INTS(v >> 24)) / 255.0;
#if defined(TEXEL)
	a = mix(a, FLOATS(1.0), greaterThanEqual(v, uvec4(0xff000000u)));
#else
	a = mix(a, 1.0, v >= 0xff000000u);
#endif
	c[0] = FLOATS(INTS(v & 0xffu)) * a;
	c[1] = FLOATS(INTS(v & 0xff00u)) * a;
	c[2] = FLOATS(INTS(v & 0xff0000u)) * a;
	c[3] = a;
}
#define TELL
#else
const float PLACED[3] = float[](1.0, 1.0 / 256.0, 1.0 / 65536.0);
RAW seen = RAW(0xffffffffu);
void partsOf(RAW v, out FLOATS c[PARTS]) {
	seen &= v;
	c[0] = FLOATS(INTS(v & 0xffu));
	c[1] = FLOATS(INTS(v & 0xff00u));
	c[2] = FLOATS(INTS(v & 0xff0000u));
}
#define TELL if ((seen & RAW(0xff000000u)) != RAW(0xff000000u)) flags[0] = 1u;
#endif

// ended repeats the first and the last pixel of a row.
FLOATS ended(FLOATS v, int column) {
#if defined(TEXEL)
	v = mix(v, v.xxxx, bvec4(column < 0));
	return mix(v, v.wwww, bvec4(column >= p.width));
#else
	return v;
#endif
}
#endif

// make makes what belongs to column x of row y.
void make(uint x, uint y);

void main() {
#if defined(ALPHA) || defined(ACROSS) || defined(DOWN)
	// A few groups make all tiles, so the launch costs almost nothing without a flag.
	uint tiles = max(p.always, flags[0]) * p.tiles, across = p.across, columns = p.columns, stride = p.stride;
	for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += stride) {
		uint x = tile % across * 64 + gl_LocalInvocationID.x;
		if (x < columns) make(x, tile / across);
	}
#else
	uint x = gl_GlobalInvocationID.x;
	if (x < p.columns) make(x, gl_WorkGroupID.y);
#endif
}
