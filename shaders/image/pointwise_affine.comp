// Two to four operations in a row, each of which scales the colours of bytes and adds an offset. After each
// of them colours are rounded and clamped, so that the result is that of image/pointwise_byte.affine as
// often. Alpha stays as it is.
//
// The variants with .word make a pixel a word, the others four pixels a texel.
//
//lathe:variant two U8 TEXEL STAGES=2
//lathe:variant four U8 TEXEL STAGES=4
//lathe:variant two.word U8 STAGES=2
//lathe:variant four.word U8 STAGES=4
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
	float scale0;  // level·scale + offset, rounded down
	float offset0;
	float scale1;
	float offset1;
	float scale2;  // Of two stages, the others are not used.
	float offset2;
	float scale3;
	float offset3;
} p;

#include "lib/pixels.glsl"
#include "lib/colour_words.glsl"

FLOATS stage(FLOATS v, float scale, float offset) {
	precise FLOATS made = v * scale + offset;
	return made;
}

void main() {
	uint row = gl_WorkGroupID.y, x = gl_WorkGroupID.x * (WG * PACKS) + gl_LocalInvocationID.x;
	uint from = p.srcBase + row * p.srcPitch, to = p.dstBase + row * p.dstPitch, columns = p.columns;
	float scale[4] = {p.scale0, p.scale1, p.scale2, p.scale3}, offset[4] = {p.offset0, p.offset1, p.offset2, p.offset3};
	[[unroll]] for (uint n = 0; n < PACKS; n++, x += WG) {
		if (x < columns) {
			WORDS v = fetchPack(from + x);
			FLOATS c[3] = {colour(v, 0xffu) / PLACE.r, colour(v, 0xff00u) / PLACE.g, colour(v, 0xff0000u) / PLACE.b};
			[[unroll]] for (uint i = 0; i < 3; i++) {
				[[unroll]] for (uint k = 0; k < STAGES - 1; k++) {
					c[i] = floor(clamp(stage(c[i], scale[k], offset[k]), FLOATS(0.0), FLOATS(255.0)));
				}
				c[i] = stage(c[i], scale[STAGES - 1], offset[STAGES - 1]);
			}
			v &= 0xff000000u;
#if defined(TEXEL)
			v |= levels(c[0]) | (levels(c[1]) << 8) | (levels(c[2]) << 16);
#else
			v |= packLevels(level(c[0]), level(c[1]), level(c[2]));
#endif
			STORE(to + x, v);
		}
	}
}
