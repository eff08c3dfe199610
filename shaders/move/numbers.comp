// The numbers of rows of a table, of indices. A number is the sum of the index, multiplied by
// a factor, and of what the place of the index adds. A negative index counts from the end. An
// index of several components takes a launch for each: all but the first add to the numbers.
//
//lathe:variant u32

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, inner;     // numbers to make; those that lie together
	uint pitch, base;      // from one run of inner numbers to the next; where the first one is
	uint indexBase, words; // words of the indices: where the first one is, from one to the next
	uint first;            // the first number among all
	uint below;            // how many neighbours share their place in the dimensions that follow
	uint size, factor;     // of the dimension
	uint adds;             // 1: add to the numbers
	uint rank;             // dimensions of the place, innermost first
	uint n[7], place[7];   // sizes; what a step along each adds
} p;

layout(set = 0, binding = 0) readonly buffer IndexBuffer { uint indices[]; };
layout(set = 0, binding = 1) buffer NumberBuffer { uint numbers[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint o = i / p.inner, k = i - o * p.inner;
	uint index = indices[p.indexBase + k * p.words];
	uint at = p.base + o * p.pitch + k, number = (index + (index >> 31) * p.size) * p.factor;
	if (p.adds != 0u) number += numbers[at];
	uint rest = (p.first + o * p.pitch + k) / p.below;
	for (uint d = 0; d < p.rank; d++) {
		uint q = rest / p.n[d];
		number += (rest - q * p.n[d]) * p.place[d];
		rest = q;
	}
	numbers[at] = number;
}
