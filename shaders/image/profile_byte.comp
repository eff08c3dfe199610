// image/profile for bytes, with curves and a matrix. image/profile_levels has made light of each level. Alpha stays.
// The packs are those of image/pointwise_byte.
//
//lathe:variant u8
//lathe:variant u8.texel TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

const uint WG = 256, PACKS = 4; // an invocation makes PACKS packs
layout(local_size_x = 256) in;

layout(push_constant) uniform Params {
	uint columns;  // packs a row
	uint srcBase;  // first pack of the first row
	uint srcPitch; // packs from row to row
	uint dstBase;
	uint dstPitch;
	float redR;    // red light of the target: redR·red + redG·green + redB·blue
	float redG;
	float redB;
	float greenR;
	float greenG;
	float greenB;
	float blueR;
	float blueG;
	float blueB;
} p;

#define U8
#include "lib/pixels.glsl"
#include "lib/colour_words.glsl"

// 256 levels of red, then of green, then of blue.
#if defined(TEXEL)
// lavapipe loads from a storage buffer by a loop over the lanes, and from a uniform buffer without one.
layout(set = 0, binding = 2) uniform Light { vec4 light[192]; };
#define BELOW(x, y) lessThanEqual(x, FLOATS(y))
float one(uint i) { return light[i >> 2][i & 3u]; }
FLOATS looked(WORDS v, uint first) { return FLOATS(one((v.r & 0xffu) + first), one((v.g & 0xffu) + first), one((v.b & 0xffu) + first), one((v.a & 0xffu) + first)); }
#else
layout(set = 0, binding = 2) readonly buffer Light { float light[768]; };
#define BELOW(x, y) x <= y
FLOATS looked(WORDS v, uint first) { return light[(v & 0xffu) + first]; }
#endif

// encoded is 255 times what the curve of sRGB makes of light in 0..1, and HALF. From 0.0031308 on that is
// 255·(1.055·u^(5/3) − 0.055) of the fourth root u. The polynomial is less than 0.002 away from it.
FLOATS encoded(FLOATS x) {
	FLOATS u = sqrt(sqrt(x));
	FLOATS y = ((((-17.3775742 * u + 73.8309462) * u - 147.258125) * u + 320.128136) * u + 41.3166963) * u - 15.1417558;
	return mix(y, (12.92 * 255.0) * x + HALF, BELOW(x, 0.0031308));
}

void main() {
	uint row = gl_WorkGroupID.y, x = gl_WorkGroupID.x * (WG * PACKS) + gl_LocalInvocationID.x;
	uint from = p.srcBase + row * p.srcPitch, to = p.dstBase + row * p.dstPitch;
	uint columns = p.columns;
	vec3 red = vec3(p.redR, p.redG, p.redB), green = vec3(p.greenR, p.greenG, p.greenB), blue = vec3(p.blueR, p.blueG, p.blueB);
	[[unroll]] for (uint n = 0; n < PACKS; n++, x += WG) {
		if (x < columns) {
			WORDS v = fetchPack(from + x);
			FLOATS r = looked(v, 0), g = looked(v >> 8, 256), b = looked(v >> 16, 512);
			v &= 0xff000000u;
			FLOATS newR = encoded(clamp((r * red.r + g * red.g) + b * red.b, 0.0, 1.0));
			FLOATS newG = encoded(clamp((r * green.r + g * green.g) + b * green.b, 0.0, 1.0));
			FLOATS newB = encoded(clamp((r * blue.r + g * blue.g) + b * blue.b, 0.0, 1.0));
#if defined(TEXEL)
			v |= levels(newR) | (levels(newG) << 8) | (levels(newB) << 16);
#else
			v |= packLevels(level(newR), level(newG), level(newB));
#endif
			STORE(to + x, v);
		}
	}
}
