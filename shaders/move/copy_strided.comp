// A copy between any strides. Elements of BITS bits are moved as bits; memory is
// read and written in words of 32, or in packs where an element is one (BITS=128).
//
// The output consists of rows of neighbouring elements. Each row is divided into whole
// words of memory, and an invocation makes WORDS of them. The other bits of a word stay as
// they are. No two rows of a launch share a word.
//
//lathe:variant u8 BITS=8
//lathe:variant u16 BITS=16
//lathe:variant u32 BITS=32
//lathe:variant u128 BITS=128
//lathe:variant u8.texel BITS=8 TEXEL
//lathe:variant u16.texel BITS=16 TEXEL
//lathe:variant u32.texel BITS=32 TEXEL
//lathe:variant u128.texel BITS=128 TEXEL

#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

#if BITS == 128
#define WORD uvec4
#define PER 1
#else
#define WORD uint
#define PER (32 / BITS)
#define MASK (0xffffffffu >> (32 - BITS))
#endif
#if defined(TEXEL)
#define WG 256
#define WORDS (4 / PER)
#else
#define WG 64
#define WORDS 1
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint n[8], src[8], dst[8]; // sizes and strides in elements, innermost first
	uint rank;                 // dimensions
	uint inner;                // how many of them, from the first on, make a row
	uint run;                  // elements of a row
	uint packs;                // invocations for a row
	uint total;                // invocations
	uint srcBase, dstBase;     // where the first element is
} p;

layout(set = 0, binding = 1) buffer DstBuffer { WORD dst[]; };

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform usamplerBuffer src;
#if BITS == 128
WORD word(uint i) { return texelFetch(src, int(i)); }
#else
WORD word(uint i) {
	uvec4 t = texelFetch(src, int(i >> 2));
	uvec2 h = (i & 2u) != 0u ? t.zw : t.xy;
	return (i & 1u) != 0u ? h.y : h.x;
}
#endif
#else
layout(set = 0, binding = 0) readonly buffer SrcBuffer { WORD src[]; };
WORD word(uint i) { return src[i]; }
#endif

// place is where place k of a row comes from, whose first one comes from first.
uint place(uint first, uint k) {
	for (uint d = 0; d + 1 < p.inner; d++) {
		uint q = k / p.n[d];
		first += (k - q * p.n[d]) * p.src[d];
		k = q;
	}
	return first + k * p.src[p.inner - min(p.inner, 1u)];
}

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.total) return;
	uint row = i / p.packs, pack = i - row * p.packs;
	uint from = p.srcBase, to = p.dstBase;
	for (uint d = p.inner; d < p.rank; d++) {
		uint q = row / p.n[d], k = row - q * p.n[d];
		from += k * p.src[d];
		to += k * p.dst[d];
		row = q;
	}
	uint w = to / PER + pack * WORDS, k = w * PER - to; // below 0 is far beyond run
#if PER == 1
	WORD values[WORDS];
	[[unroll]] for (uint j = 0; j < WORDS; j++) values[j] = word(place(from, min(k + j, p.run - 1)));
	[[unroll]] for (uint j = 0; j < WORDS; j++) if (k + j < p.run) dst[w + j] = values[j];
#else
	uint values[WORDS], masks[WORDS];
	[[unroll]] for (uint j = 0; j < WORDS; j++) {
		values[j] = masks[j] = 0u;
		[[unroll]] for (uint e = 0; e < PER; e++, k++) {
			if (k < p.run) {
				uint a = place(from, k);
				values[j] |= ((word(a / PER) >> (a % PER * BITS)) & MASK) << (e * BITS);
				masks[j] |= MASK << (e * BITS);
			}
		}
	}
	[[unroll]] for (uint j = 0; j < WORDS; j++) {
		if (masks[j] == 0xffffffffu) {
			dst[w + j] = values[j];
		} else if (masks[j] != 0u) {
			dst[w + j] = (dst[w + j] & ~masks[j]) | values[j];
		}
	}
#endif
}
