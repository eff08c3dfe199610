// The elements of a plane that have a weight at points of a table that nn/grid_sample_points makes: for each point
// as many as a filter takes. An element of weight 0, or outside of the plane, gets a number after all others.
//
//lathe:dtypes f32 f64
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/element.glsl"
#include "lib/sample.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, outBase;            // numbers, and the word of the first one
	uint tableBase, entry;          // the word of the first point, and words of an entry
	uint n[3], none;                // the size of a plane, and the number of no element
	uint axes, kind, padding, twice; // those of nn/grid_sample
} p;

INPUT_WORDS(0, table);
layout(set = 0, binding = 1) writeonly buffer Keys { uint keys[]; };

void main() {
	uint e = flatGroup() * 64u + gl_LocalInvocationID.x;
	if (e >= p.count) return;
	// An axis that is not there has one row, and its taps have no bits in the number of a tap.
	uint point = e >> (p.kind * p.axes), tap = e, h = p.tableBase + point * p.axes * p.entry, at = 0u, step = 1u;
	bool mirror = p.padding == 2u, has = true;
	for (uint k = 0u; k < p.axes; k++) {
		uint word = WORD(table, h), t = tap & ((1u << p.kind) - 1u), size = p.n[2u - k];
		int row = int(word) + int(t) - int(p.kind >> 1u), c = element(row, int(size) - 1, mirror, int(p.twice));
		bool counts = weight(p.kind, t, PART(table, h)) != REAL(0);
		has = all(bvec4(has, counts, word != NOWHERE, any(bvec2(p.padding != 0u, row == c))));
		at += uint(c) * step;
		step *= size;
		tap >>= p.kind;
		h += p.entry;
	}
	keys[p.outBase + e] = mix(p.none, at, has);
}
