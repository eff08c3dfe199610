// Rows of a table by their numbers. Elements are moved as bits, in units of
// BITS bits; memory is read and written in words of 32, or in packs of 16 bytes
// where a unit is one (BITS=128). An invocation makes UNITS packs, or words, of a
// row. Units smaller than words lie without gaps in the output, which is divided into whole
// words. An invocation makes one word, from as many rows as needed.
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
	uint packs;                        // invocations for a row, or for all if units are small
	uint pitch;                        // units from a row to the next, in table and output
	uint indexBase, indexWords;        // where the numbers are; words of each
	uint first, count;                 // rows of the table that are here
	uint tableBase, dstBase;           // where the first unit is
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
#if PER == 1
	uint row = i / p.packs, pack = i - row * p.packs;
	if (row >= p.rows || faults[0] != 0u) return;
	uint number = indices[p.indexBase + row * p.indexWords] - p.first;
	if (number >= p.count) return;
	uint from = p.tableBase + number * p.pitch, to = p.dstBase + row * p.pitch;
	uint w = to + pack * UNITS, k = pack * UNITS;
#if BITS == 128
	uvec4 v[UNITS];
#else
	uint v[UNITS];
#endif
	[[unroll]] for (uint j = 0; j < UNITS; j++) v[j] = LOAD(from + min(k + j, p.run - 1));
	[[unroll]] for (uint j = 0; j < UNITS; j++) if (k + j < p.run) dst[w + j] = v[j];
#else
	if (i >= p.packs || faults[0] != 0u) return;
	// From the word's last unit to its first, which may lie before all rows.
	uint w = p.dstBase / PER + i, k = w * PER + PER - 1 - p.dstBase;
	uint row = k / p.run, column = k - row * p.run;
	uint value = 0u, mask = 0u;
	[[unroll]] for (uint e = PER; e-- > 0;) {
		uint number = indices[p.indexBase + min(row, p.rows - 1) * p.indexWords] - p.first;
		uint a = p.tableBase + min(number, p.count - 1) * p.pitch + column;
		uint own = row < p.rows && number < p.count ? MASK << (e * BITS) : 0u;
		value |= ((LOAD(a / PER) >> (a % PER * BITS)) << (e * BITS)) & own;
		mask |= own;
		// Before the first row comes one far beyond the last.
		row -= column == 0u ? 1u : 0u;
		column = (column == 0u ? p.run : column) - 1;
	}
	if (mask == 0xffffffffu) {
		dst[w] = value;
	} else if (mask != 0u) {
		dst[w] = (dst[w] & ~mask) | value;
	}
#endif
}
