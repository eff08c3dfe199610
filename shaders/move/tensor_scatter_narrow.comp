// move/tensor_scatter where rows are no whole words. An invocation changes one word of the cache, so that no two write to
// the same one. Its elements may belong to several rows.
//
//lathe:variant u8 BITS=8
//lathe:variant u16 BITS=16

#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

#define WG 64
#define PER (32 / BITS)
#define MASK (0xffffffffu >> (32 - BITS))
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count;                // elements of the cache that are here
	uint units, size;          // elements of a row, rows of an outer index
	uint column, row, outer;   // of the first element
	uint each;                 // outer indices of a batch
	uint indexBase, indexStep; // word of the first index, and words from one to the next
	uint from[3], have[3];     // the updates that are here: outer, row, column
	uint updateBase, updateOuter, updateRow;
} p;

layout(set = 0, binding = 0) readonly buffer FaultBuffer { uint faults[4]; };
layout(set = 0, binding = 1) readonly buffer IndexBuffer { uint indices[]; };
layout(set = 0, binding = 2) readonly buffer UpdateBuffer { uint update[]; };
layout(set = 0, binding = 3) buffer CacheBuffer { uint cache[]; };

void main() {
	uint w = flatGroup() * WG + gl_LocalInvocationID.x;
	if (w * PER >= p.count || faults[0] != 0u) return;
	uint value = 0u, mask = 0u;
	[[unroll]] for (uint e = 0; e < PER; e++) {
		uint i = min(w * PER + e, p.count - 1u), at = p.column + i, down = at / p.units, k = at - down * p.units;
		uint row = p.row + down, over = row / p.size, o = p.outer + over;
		row -= over * p.size;
		uint j = row - indices[p.indexBase + o / p.each * p.indexStep];
		j += mix(0u, p.size, j >= p.size); // circular. If it is linear, an index is at most size - rows, so that a row before it gets no update: its j is rows or more.
		o -= p.from[0];
		j -= p.from[1];
		k -= p.from[2];
		bool own = all(bvec4(o < p.have[0], j < p.have[1], k < p.have[2], w * PER + e < p.count));
		uint a = p.updateBase + mix(0u, o * p.updateOuter + j * p.updateRow + k, own);
		uint bits = own ? MASK << (e * BITS) : 0u;
		value |= ((update[a / PER] >> (a % PER * BITS)) << (e * BITS)) & bits;
		mask |= bits;
	}
	if (mask != 0u) cache[w] = (cache[w] & ~mask) | value;
}
