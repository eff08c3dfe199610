// The indices of the accumulators of arg_max_stat, as a tensor of I32. An invocation writes
// four.
//
//lathe:variant i32
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // results
	uint words; // of an accumulator, its index the last
} p;

layout(set = 0, binding = 0) readonly buffer States { uint states[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { int dst[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	[[unroll]] for (uint k = 4 * i; k < 4 * i + 4; k++) {
		if (k < p.count) dst[k] = int(states[k * p.words + p.words - 1]);
	}
}
