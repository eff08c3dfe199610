// The numbers of elements in a tensor, of their positions along an axis.
//
//lathe:variant u32

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, first; // numbers to make, and the number of the first one
	uint inner, block; // elements after the axis, and those of the result that share all indices before the axis
	uint size;         // of the axis
} p;

layout(set = 0, binding = 0) readonly buffer PositionBuffer { uint positions[]; };
layout(set = 0, binding = 1) writeonly buffer NumberBuffer { uint numbers[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint e = p.first + i;
	numbers[i] = (e / p.block * p.size + positions[i]) * p.inner + e % p.inner;
}
