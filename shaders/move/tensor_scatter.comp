// Writes rows of updates into a cache [outer, size, pitch], from the row on that an index of each batch says. Elements are
// moved as bits, in units of BITS bits. An invocation moves a unit.
//
//lathe:variant u32 UNIT=uint
//lathe:variant u128 UNIT=uvec4

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count;                // units of the updates that are here
	uint units, rows;          // units of a row, and rows of an outer index, of those here
	uint first, each;          // the first outer index, and how many a batch has
	uint indexBase, indexStep; // word of the first index, and words from one to the next
	uint size;                 // rows of the cache
	uint row;                  // the first of the update rows that are here
	uint from, have;           // the first row of the cache that is here, and how many are
	uint updateBase, updateOuter, updateRow;
	uint cacheBase, cacheOuter, cacheRow;
} p;

layout(set = 0, binding = 0) readonly buffer FaultBuffer { uint faults[4]; };
layout(set = 0, binding = 1) readonly buffer IndexBuffer { uint indices[]; };
layout(set = 0, binding = 2) readonly buffer UpdateBuffer { UNIT update[]; };
layout(set = 0, binding = 3) writeonly buffer CacheBuffer { UNIT cache[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count || faults[0] != 0u) return;
	uint t = i / p.units, k = i - t * p.units, o = t / p.rows, j = t - o * p.rows;
	uint to = indices[p.indexBase + (p.first + o) / p.each * p.indexStep] + p.row + j;
	to -= to >= p.size ? p.size : 0u; // circular
	to -= p.from;
	if (to < p.have) cache[p.cacheBase + o * p.cacheOuter + to * p.cacheRow + k] = update[p.updateBase + o * p.updateOuter + j * p.updateRow + k];
}
