// Means of squares of opaque RGBA bytes for processors, by running sums: a pixel enters and one leaves, so
// the cost does not depend on the radius. A sum of a column is below 2^16 for each colour, and two
// of them are a word: red and blue, and green. All are whole numbers, so nothing is rounded before
// the end.
//
//   down    sums down the columns
//   across  sums along the rows, and writes the picture
//
// Between the passes the rows of a column follow each other, so that both passes run along lines
// that are side by side. The .opaque variants write opaque pixels. The others take the alpha of the
// image.
//
//lathe:variant u8.down U8 DOWN LOCAL=64
//lathe:variant u8.down.texel U8 DOWN TEXEL LOCAL=64
//lathe:variant u8.across U8 ACROSS LOCAL=64
//lathe:variant u8.across.texel U8 ACROSS TEXEL LOCAL=8
//lathe:variant u8.across.opaque U8 ACROSS LOCAL=64 OPAQUE_ONLY
//lathe:variant u8.across.opaque.texel U8 ACROSS TEXEL LOCAL=8 OPAQUE_ONLY
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = LOCAL) in;

layout(push_constant) uniform Params {
	uint lines;     // packs of a row, or of rows in across
	int first;      // row of the picture that is made first
	int last;       // the last row or column to read
	uint count;     // rows or columns to make
	uint span;      // of these, an invocation makes so many, a multiple of a pack
	uint radius;
	uint base;      // of the picture to read, or to write in across: pack of row 0
	uint pitch;     // packs from row to row
	uint tall;      // packs of a column between the passes
	uint rows;      // to write, in across
	uint imageBase;
	uint imagePitch;
} p;

#include "lib/box_sums.glsl"

#if defined(DOWN)
layout(set = 0, binding = 2) writeonly buffer Flags { uint flags[4]; };

void main() {
	uint x = gl_GlobalInvocationID.x, begin = gl_WorkGroupID.y * p.span;
	if (x >= p.lines) return;
	uint from = p.base + x, pitch = p.pitch, tall = p.tall, end = min(begin + p.span, p.count);
	int last = p.last, radius = int(p.radius), low = p.first + int(begin) - radius, high = low + 2 * radius + 1;
	WORDS seen = WORDS(0xffffffffu), even = WORDS(0u), odd = WORDS(0u);
	for (int y = low; y < high; y++) {
		WORDS v = fetch(from + uint(clamp(y, 0, last)) * pitch);
		seen &= v;
		even += v & LOW;
		odd += (v >> 8) & LOW;
	}
	uint to = x * PACK * 2 * tall + begin / PACK;
	for (uint i = begin; i < end; i += PACK) {
		WORDS enter[PACK], leave[PACK];
		[[unroll]] for (uint t = 0; t < PACK; t++) {
			enter[t] = fetch(from + uint(clamp(high + int(t), 0, last)) * pitch);
			leave[t] = fetch(from + uint(clamp(low + int(t), 0, last)) * pitch);
		}
		WORDS evens[PACK], odds[PACK];
		[[unroll]] for (uint t = 0; t < PACK; t++) {
			evens[t] = even;
			odds[t] = odd;
			seen &= enter[t];
			even += (enter[t] & LOW) - (leave[t] & LOW);
			odd += ((enter[t] >> 8) & LOW) - ((leave[t] >> 8) & LOW);
		}
		[[unroll]] for (uint k = 0; k < PACK; k++) {
#if defined(TEXEL)
			dst[to + 2 * k * tall] = uvec4(evens[0][k], evens[1][k], evens[2][k], evens[3][k]);
			dst[to + (2 * k + 1) * tall] = uvec4(odds[0][k], odds[1][k], odds[2][k], odds[3][k]);
#else
			dst[to] = evens[0];
			dst[to + tall] = odds[0];
#endif
		}
		to++;
		low += int(PACK);
		high += int(PACK);
	}
	if ((seen & WORDS(0xff000000u)) != WORDS(0xff000000u)) flags[0] = 1u;
}
#else
void main() {
	uint y = gl_GlobalInvocationID.x, begin = gl_WorkGroupID.y * p.span;
	if (y >= p.lines) return;
	uint tall = p.tall, end = min(begin + p.span, p.count), rows = p.rows, pitch = p.pitch;
	int last = p.last, radius = int(p.radius), low = int(begin) - radius, high = low + 2 * radius + 1;
	int side = 2 * radius + 1, all = side * side;
	float by = 1.0 / float(all);
	INTS red = INTS(0), green = INTS(0), blue = INTS(0);
	for (int x = low; x < high; x++) {
		uint at = uint(clamp(x, 0, last)) * 2 * tall + y;
		WORDS even = fetch(at), odd = fetch(at + tall);
		red += INTS(even & 0xffffu);
		blue += INTS(even >> 16);
		green += INTS(odd & 0xffffu);
	}
	uint to = p.base + y * PACK * pitch + begin / PACK;
#if !defined(OPAQUE_ONLY)
	uint imagePitch = p.imagePitch, alpha = p.imageBase + y * PACK * imagePitch + begin / PACK;
#endif
	for (uint i = begin; i < end; i += PACK) {
		WORDS made[PACK];
		[[unroll]] for (uint t = 0; t < PACK; t++) {
			uint enter = uint(clamp(high + int(t), 0, last)) * 2 * tall + y, leave = uint(clamp(low + int(t), 0, last)) * 2 * tall + y;
			WORDS even = fetch(enter), odd = fetch(enter + tall), even0 = fetch(leave), odd0 = fetch(leave + tall);
			made[t] = WORDS(quotient(red, all, by)) | (WORDS(quotient(green, all, by)) << 8) | (WORDS(quotient(blue, all, by)) << 16);
			red += INTS(even & 0xffffu) - INTS(even0 & 0xffffu);
			blue += INTS(even >> 16) - INTS(even0 >> 16);
			green += INTS(odd & 0xffffu) - INTS(odd0 & 0xffffu);
		}
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			if (y * PACK + k < rows) {
#if defined(TEXEL)
				WORDS v = uvec4(made[0][k], made[1][k], made[2][k], made[3][k]);
#else
				WORDS v = made[0];
#endif
#if defined(OPAQUE_ONLY)
				v |= 0xff000000u;
#else
				v |= ALPHA(alpha + k * imagePitch);
#endif
#if defined(TEXEL)
				// As storeTexel in lib/pixel_store.glsl.
				v = mix(v, uvec4(to), equal(uvec4(to), uvec4(0xffffffffu)));
#endif
				dst[to + k * pitch] = v;
			}
		}
		to++;
#if !defined(OPAQUE_ONLY)
		alpha++;
#endif
		low += int(PACK);
		high += int(PACK);
	}
}
#endif
