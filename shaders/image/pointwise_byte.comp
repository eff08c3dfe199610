// A single pointwise operation on bytes. Alpha stays as it is. The variants without a suffix
// make four pixels a texel. Those with .word make a pixel a word, for devices that load and
// store the words of neighbouring invocations together.
// image/pointwise runs chains and floats. On a CPU driver the store of a texel costs as much as
// some hundred instructions, and parameters and conversions cost as much again. So each
// parameter is read once, colours keep their place in the word when they become floats, and
// are clamped as integers.
//
//lathe:variant invert U8 TEXEL INVERT
//lathe:variant affine U8 TEXEL AFFINE
//lathe:variant luma U8 TEXEL LUMA
//lathe:variant step U8 TEXEL STEP
//lathe:variant matrix U8 TEXEL MATRIX
//lathe:variant table U8 TEXEL TABLE
//lathe:variant invert.word U8 INVERT
//lathe:variant affine.word U8 AFFINE
//lathe:variant luma.word U8 LUMA
//lathe:variant step.word U8 STEP
//lathe:variant matrix.word U8 MATRIX
//lathe:variant table.word U8 TABLE
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
#if defined(MATRIX)
	float redR;    // red of the result: redR·red + redG·green + redB·blue + redOne, rounded down
	float redG;
	float redB;
	float redOne;
	float greenR;
	float greenG;
	float greenB;
	float greenOne;
	float blueR;
	float blueG;
	float blueB;
	float blueOne;
#elif !defined(TABLE)
	uint invert;   // INVERT: bits to invert in each pixel
	float scale;   // AFFINE: level·scale + offset, rounded down
	float offset;
	uint low;      // STEP, for each colour: 128 less the lower 7 bits of the least level to become 255
	uint either;   // and 128 if that level is below 128
#endif
} p;

#include "lib/pixels.glsl"
#include "lib/colour_words.glsl"

#if defined(TABLE)
// A word for each level, with a byte for each colour.
#if defined(TEXEL)
// lavapipe loads from a storage buffer by a loop over the lanes, and from a uniform buffer without one.
layout(set = 0, binding = 2) uniform Table { uvec4 table[64]; };
uint entry(uint i) { return table[i >> 2][i & 3u]; }
#else
layout(set = 0, binding = 2) readonly buffer Table { uint table[256]; };
uint entry(uint i) { return table[i]; }
#endif

uint looked(uint v) {
	return (v & 0xff000000u) | (entry(v & 0xffu) & 0xffu) | (entry((v >> 8) & 0xffu) & 0xff00u) | (entry((v >> 16) & 0xffu) & 0xff0000u);
}
#endif

void main() {
	uint row = gl_WorkGroupID.y, x = gl_WorkGroupID.x * (WG * PACKS) + gl_LocalInvocationID.x;
	uint from = p.srcBase + row * p.srcPitch, to = p.dstBase + row * p.dstPitch;
	uint columns = p.columns;
#if defined(INVERT)
	uint invert = p.invert;
#elif defined(AFFINE)
	vec3 scale = p.scale / PLACE;
	float offset = p.offset;
#elif defined(LUMA)
	const vec3 scale = BT601 / PLACE;
#elif defined(STEP)
	uint low = p.low, either = p.either;
#elif defined(MATRIX)
	vec3 red = vec3(p.redR, p.redG, p.redB) / PLACE, green = vec3(p.greenR, p.greenG, p.greenB) / PLACE, blue = vec3(p.blueR, p.blueG, p.blueB) / PLACE;
	vec3 one = vec3(p.redOne, p.greenOne, p.blueOne);
#endif
	[[unroll]] for (uint n = 0; n < PACKS; n++, x += WG) {
		if (x < columns) {
			WORDS v = fetchPack(from + x);
#if defined(INVERT)
			v ^= invert;
#elif defined(STEP)
			// The sum has bit 7 of a colour set if the lower bits reach those of the
			// least level. That decides, unless bit 7 itself is above it or below.
			WORDS sum = (v & 0x7f7f7fu) + low;
			WORDS on = ((sum & v) | ((sum | v) & either)) & 0x808080u;
			v = (v & 0xff000000u) | ((on << 1) - (on >> 7)); // 256 − 1 where on
#elif defined(TABLE) && defined(TEXEL)
			v = uvec4(looked(v.r), looked(v.g), looked(v.b), looked(v.a));
#elif defined(TABLE)
			v = looked(v);
#elif defined(MATRIX)
			FLOATS r = colour(v, 0xffu), g = colour(v, 0xff00u), b = colour(v, 0xff0000u);
			v &= 0xff000000u;
			// The order is that of image/pointwise_list, so that a chain equals the single operations.
			precise FLOATS newR = ((r * red.r + g * red.g) + b * red.b) + one.r;
			precise FLOATS newG = ((r * green.r + g * green.g) + b * green.b) + one.g;
			precise FLOATS newB = ((r * blue.r + g * blue.g) + b * blue.b) + one.b;
#if defined(TEXEL)
			v |= levels(newR) | (levels(newG) << 8) | (levels(newB) << 16);
#else
			v |= packLevels(level(newR), level(newG), level(newB));
#endif
#else
			FLOATS r = colour(v, 0xffu) * scale.r, g = colour(v, 0xff00u) * scale.g, b = colour(v, 0xff0000u) * scale.b;
			v &= 0xff000000u;
#if defined(AFFINE) && !defined(TEXEL)
			v |= packLevels(level(r + offset), level(g + offset), level(b + offset));
#elif defined(AFFINE)
			v |= levels(r + offset) | (levels(g + offset) << 8) | (levels(b + offset) << 16);
#elif !defined(TEXEL)
			int y = level(r + g + b + HALF);
			v |= packLevels(y, y, y);
#else
			WORDS y = WORDS(INTS(r + g + b + HALF));
			v |= y | (y << 8) | (y << 16);
#endif
#endif
			STORE(to + x, v);
		}
	}
}
