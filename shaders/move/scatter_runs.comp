// The runs of updates that belong to the same row of a table, of pairs that are sorted as lib/scatter.glsl says: the
// positions of the updates, with the highest bit in the last one of each run, and for each row where its run begins, counted
// from 1. Rows without a run keep their word.
//
//lathe:variant u32

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // pairs
	uint rows;  // of the table
} p;

layout(set = 0, binding = 0) readonly buffer PairBuffer { uvec2 pairs[]; };
layout(set = 0, binding = 1) writeonly buffer PositionBuffer { uint positions[]; };
layout(set = 0, binding = 2) writeonly buffer StartBuffer { uint starts[]; };

void main() {
	uint e = flatGroup() * 64 + gl_LocalInvocationID.x, last = p.count - 1u;
	if (e >= p.count) return;
	uvec2 pair = pairs[e];
	uint before = pairs[max(e, 1u) - 1u].x, after = pairs[min(e + 1u, last)].x;
	bool isFirst = e == 0u || before != pair.x, isLast = e == last || after != pair.x;
	positions[e] = pair.y | mix(0u, 0x80000000u, isLast);
	if (isFirst && pair.x < p.rows) starts[pair.x] = e + 1u;
}
