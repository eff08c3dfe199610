// Rows of a table by their numbers. Elements are moved as bits, in units of
// BITS bits; memory is read and written in words of 32, or in packs of 16 bytes
// where a unit is one (BITS=128). An invocation makes UNITS packs, or words, of a
// row. Of a word that rows share only the own bits are changed, and they take
// turns: see copy_strided.comp.
//
//lathe:variant u8 BITS=8
//lathe:variant u16 BITS=16
//lathe:variant u32 BITS=32
//lathe:variant u128 BITS=128
//lathe:variant u32.texel BITS=32 TEXEL
//lathe:variant u128.texel BITS=128 TEXEL

#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

#if defined(TEXEL)
#define WG 256
#define UNITS 4
#else
#define WG 64
#define UNITS 1
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows;                         // rows of the output
	uint run;                          // units of a row, of those here
	uint packs;                        // invocations for a row
	uint pitch;                        // units from a row to the next, in table and output
	uint indexBase, indexWords;        // where the numbers are; words of each
	uint first, count;                 // rows of the table that are here
	uint tableBase, dstBase;           // where the first unit is
	uint turn;                         // where in a word its part begins, of those to write; EVERY
} p;

layout(set = 0, binding = 0) readonly buffer IndexBuffer { uint indices[]; };
layout(set = 0, binding = 3) readonly buffer FaultBuffer { uint faults[4]; };

#if BITS == 128
#define PER 1
layout(set = 0, binding = 2) writeonly buffer DstBuffer { uvec4 dst[]; };
#if defined(TEXEL)
layout(set = 0, binding = 1) uniform usamplerBuffer table;
#define LOAD(i) texelFetch(table, int(i))
#else
layout(set = 0, binding = 1) readonly buffer TableBuffer { uvec4 table[]; };
#define LOAD(i) table[i]
#endif
#else
#define PER (32 / BITS)
#define MASK (0xffffffffu >> (32 - BITS))
#define EVERY 0xffffffffu
layout(set = 0, binding = 2) buffer DstBuffer { uint dst[]; };
#if defined(TEXEL)
layout(set = 0, binding = 1) uniform usamplerBuffer table;
uint LOAD(uint i) {
	uvec4 t = texelFetch(table, int(i >> 2));
	uvec2 h = (i & 2u) != 0u ? t.zw : t.xy;
	return (i & 1u) != 0u ? h.y : h.x;
}
#else
layout(set = 0, binding = 1) readonly buffer TableBuffer { uint table[]; };
#define LOAD(i) table[i]
#endif
#endif

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	uint row = i / p.packs, pack = i - row * p.packs;
	if (row >= p.rows || faults[0] != 0u) return;
	uint number = indices[p.indexBase + row * p.indexWords] - p.first;
	if (number >= p.count) return;
	uint from = p.tableBase + number * p.pitch, to = p.dstBase + row * p.pitch;
	uint w = to / PER + pack * UNITS, k = w * PER - to; // below 0 is far beyond run
#if PER == 1
#if BITS == 128
	uvec4 v[UNITS];
#else
	uint v[UNITS];
#endif
	[[unroll]] for (uint j = 0; j < UNITS; j++) v[j] = LOAD(from + min(k + j, p.run - 1));
	[[unroll]] for (uint j = 0; j < UNITS; j++) if (k + j < p.run) dst[w + j] = v[j];
#else
	uint value = 0u, mask = 0u;
	[[unroll]] for (uint e = 0; e < PER; e++) {
		if (k + e < p.run) {
			uint a = from + k + e;
			value |= ((LOAD(a / PER) >> (a % PER * BITS)) & MASK) << (e * BITS);
			mask |= MASK << (e * BITS);
		}
	}
	uint begin = pack == 0u ? to % PER : 0u;
	if (mask == 0u || p.turn != EVERY && p.turn != begin) return;
	dst[w] = mask == 0xffffffffu ? value : (dst[w] & ~mask) | value;
#endif
}
