// Rows of a table that get the rows of other tensors. Pairs of the number of a row of the
// table and of the position of an update are sorted: equal numbers are neighbours, in the
// order of the positions. An invocation has a pair and one element of its row.

#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, pairBase;                     // pairs that are here; where the first one is
	uint run, pitch;                          // elements of a row that are here, and in all
	uint first, rows, tableBase;              // rows of the table that are here
	uint firstUpdate, updates, updateBase;    // updates that are here
	uint kind;                                // 0: add, 1: mul, 2: min, 3: max
} p;

layout(set = 0, binding = 0) readonly buffer FaultBuffer { uint faults[4]; };
layout(set = 0, binding = 1) readonly buffer PairBuffer { uint pairs[]; };

// isHere reports whether pair e is here, means that row and has an update that is here.
bool isHere(uint e, uint row) {
	uint k = p.pairBase + 2u * min(e, p.count - 1u); // e may be one before the first
	bool same = pairs[k] == row, has = pairs[k + 1u] - p.firstUpdate < p.updates, in_ = e < p.count;
	return all(bvec3(same, has, in_));
}
