// Elements of rows of words at the same indices in each row, for CPU drivers. An invocation has four indices, which it
// reads once for all of its rows.
//
// Indices count from the end if they are negative. WORDS: rows of the result that are not whole packs.
//
//lathe:variant u32
//lathe:variant u32.texel TEXEL
//lathe:variant u32.words WORDS
//lathe:variant u32.words.texel WORDS TEXEL

#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint rows, each;      // rows that are here, and of an invocation
	uint size, run;       // words of a row, and of a row of the result
	uint words;           // of an index
	uint base, indexBase; // where the first word and the first index are
	uint at;              // where the first word of the result is
} p;

layout(set = 0, binding = 0) readonly buffer IndexBuffer { uint indices[]; };
#if defined(TEXEL)
layout(set = 0, binding = 1) uniform usamplerBuffer data;
uint LOAD(uint i) {
	uvec4 t = texelFetch(data, int(i >> 2));
	uvec2 h = mix(t.xy, t.zw, bvec2((i & 2u) != 0u));
	return mix(h.x, h.y, (i & 1u) != 0u);
}
#else
layout(set = 0, binding = 1) readonly buffer DataBuffer { uint data[]; };
#define LOAD(i) data[i]
#endif
#if defined(WORDS)
layout(set = 0, binding = 2) writeonly buffer ResultBuffer { uint result[]; };
#else
layout(set = 0, binding = 2) writeonly buffer ResultBuffer { uvec4 result[]; };
#endif
layout(set = 0, binding = 3) readonly buffer FaultBuffer { uint faults[4]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x, packs = (p.run + 3u) / 4u, group = i / packs, column = (i - group * packs) * 4u;
	uint row = group * p.each, end = min(row + p.each, p.rows), size = p.size, run = p.run;
	if (row >= end || faults[0] != 0u) return;
	uint from[4];
	[[unroll]] for (uint k = 0u; k < 4u; k++) {
		uint index = indices[p.indexBase + min(column + k, run - 1u) * p.words];
		from[k] = p.base + row * size + index + (index >> 31) * size;
	}
#if defined(WORDS)
	uint at = p.at + row * run + column, count = min(run - column, 4u);
#else
	uint at = (p.at + row * run + column) / 4u;
#endif
	for (; row < end; row++) {
		uvec4 v = uvec4(LOAD(from[0]), LOAD(from[1]), LOAD(from[2]), LOAD(from[3]));
#if defined(WORDS)
		[[unroll]] for (uint k = 0u; k < 4u; k++) if (k < count) result[at + k] = v[k];
		at += run;
#else
		result[at] = v;
		at += run / 4u;
#endif
		[[unroll]] for (uint k = 0u; k < 4u; k++) from[k] += size;
	}
}
