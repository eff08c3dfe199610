// The weights of the gradient of a resampled axis: the transpose of the table that nn/resample_table makes.
// Entry j has the weights of row j in the rows of the result, divided by their sums. A launch sets a part of
// the weights of each entry.
//
//lathe:dtypes f32 f64
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/resample.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, index;         // entries, and the row of the first one
	uint base, pitch, slots;   // where they lie, the words of an entry, and its weights
	uint low, high;            // the weights that are set
	uint begin, end;           // the entries of the other table that are here
	uint seek, seekEnd;        // those among which the first one that reaches a row is
	uint limit;                // the last row with which an entry may begin
	int fromBase;              // where entry 0 of that table lies
	uint fromPitch, fromSlots; // of that table
	uint last;                 // the last row of the source
	uint flip;                 // 1 if coordinates fall
} p;

layout(set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(set = 0, binding = 1) buffer Table { uint table[]; };

uint entry(uint i) { return uint(p.fromBase) + i * p.fromPitch; }

void main() {
	uint g = flatGroup() * 64u + gl_LocalInvocationID.x;
	if (g >= p.count) return;
	uint j = p.index + g, h = p.base + g * p.pitch;
	uint aim = p.flip != 0u ? p.last - j : j;
	// The first entry that reaches row j.
	uint first = p.seek, end = p.seekEnd;
	while (first < end) {
		uint middle = (first + end) / 2u;
		bool before = from[entry(middle) + 1u] < aim;
		first = mix(first, middle + 1u, before);
		end = mix(middle, end, before);
	}
	first = min(first, p.limit);
	if (p.low == 0u) {
		table[h] = first;
		table[h + 1u] = 0u;
		PUT_REAL(table, SUM_WORD(h), REAL(1));
	}
	for (uint k = p.low; k < p.high; k++) {
		uint i = first + k, e = entry(clamp(i, p.begin, p.end - 1u));
		uint slot = j - (from[e] & ~OUTSIDE);
		bool has = all(bvec4(i >= p.begin, i < p.end, slot < p.fromSlots, (from[e] & OUTSIDE) == 0u));
		REAL w, sum;
		GET_REAL(w, from, WEIGHT_WORD(e, min(slot, p.fromSlots - 1u)));
		GET_REAL(sum, from, SUM_WORD(e));
		has = all(bvec2(has, sum != REAL(0))); // It is 0 where all elements are outside, and excluded.
		PUT_REAL(table, WEIGHT_WORD(h, k), mix(REAL(0), w / sum, has));
	}
}
