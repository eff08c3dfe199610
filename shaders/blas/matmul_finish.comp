// Ends a matrix product that was made in parts or in a wider type: sums the parts
// in their order, adds the bias, and rounds once. An invocation writes one pack of a run.
// Whole rows of the result follow each other without gaps and are one run. A part of a row is
// a run of its own. The rows of the parts have whole texels.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL
//lathe:variant {f32,f16,bf16}.flat TEXEL FLAT
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/edge.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint base;  // element of the bound window with which the first run begins
	uint count; // elements of a run
	uint runs;
	uint runStep; // elements from run to run
	uint packs;   // invocations for a run, enough wherever in a pack it begins
	uint n;       // columns
	uint row;   // elements from row to row of a part
	uint parts;
	uint part; // elements from part to part
	uint bias; // 1: add it
	uint biasBase;
} p;

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform samplerBuffer parts;
float partAt(uint i) {
	vec4 t = texelFetch(parts, int(i / 4));
	return (i & 2u) == 0u ? ((i & 1u) == 0u ? t.x : t.y) : ((i & 1u) == 0u ? t.z : t.w);
}
#else
layout(set = 0, binding = 0) readonly buffer Parts { REAL parts[]; };
REAL partAt(uint i) { return parts[i]; }
#endif
INPUT(1, bias);
EDGED(2, dst);

#if defined(FLAT)
#include "lib/quads.glsl"

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x, run = i / p.packs, at = i - run * p.packs;
	if (run >= p.runs) return;
	uint n = p.n / PACK, row = at / n, col = at - row * n;
	uint from = (row + run) * p.row / 4 + col * QUADS, next = p.part / 4, parts_ = p.parts;
	vec4 v[QUADS];
	[[unroll]] for (uint q = 0; q < QUADS; q++) v[q] = vec4(0.0);
	for (uint s = 0; s < parts_; s++, from += next)
		[[unroll]] for (uint q = 0; q < QUADS; q++) v[q] += texelFetch(parts, int(from + q));
	if (p.bias != 0) {
		uvec4 add = FETCH(bias, p.biasBase / PACK + col);
		[[unroll]] for (uint q = 0; q < QUADS; q++) v[q] += quad(add, q);
	}
	REAL made[PACK];
	[[unroll]] for (uint k = 0; k < PACK; k++) made[k] = v[k / 4][k % 4];
	dst[(p.base + run * p.runStep) / PACK + at] = repack(made);
}
#else
void main() {
	uint run = flatGroup() * WG + gl_LocalInvocationID.x, i = run % p.packs;
	run /= p.packs;
	uint begin = p.base + run * p.runStep, end = begin + p.count;
	i += begin / PACK;
	if (run >= p.runs || i * PACK >= end) return;
	REAL v[PACK];
	// The first element of a pack may lie before the run.
	uint e = max(i * PACK, begin) - begin, row = e / p.n, col = e - row * p.n;
	row += run;
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		v[k] = REAL(0);
		if (i * PACK + k >= begin && i * PACK + k < end) {
			for (uint s = 0; s < p.parts; s++) v[k] += partAt(s * p.part + row * p.row + col);
			if (p.bias != 0) v[k] += elementOf(FETCH(bias, (p.biasBase + col) / PACK), (p.biasBase + col) % PACK);
			col++;
			if (col == p.n) {
				col = 0;
				row++;
			}
		}
	}
	STORE_EDGED(dst, i, repack(v), begin, end);
}
#endif
