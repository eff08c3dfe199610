// The numbers of rows of a table, of indices that are the same for each block of rows. The largest
// word is no index, and stays what it is.
//
//lathe:variant u32

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, inner;    // numbers to make; those that lie together
	uint pitch, base;     // from one block to the next; where the first number is
	uint indexBase;       // where the first index is
	uint first, size;     // the first block; rows of a block
} p;

layout(set = 0, binding = 0) readonly buffer IndexBuffer { uint indices[]; };
layout(set = 0, binding = 1) writeonly buffer NumberBuffer { uint numbers[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint o = i / p.inner, k = i - o * p.inner, index = indices[p.indexBase + k];
	numbers[p.base + o * p.pitch + k] = mix((p.first + o) * p.size + index, index, index == 0xffffffffu);
}
