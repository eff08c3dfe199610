// Adds the counts of the workgroups of image/histogram_shared. A workgroup makes one sum.
//
//lathe:variant u32
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint first; // sum of the first workgroup
	uint parts; // counts of a sum, which lie side by side
} p;

layout(set = 0, binding = 0) readonly buffer Counts { uint counts[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { uint sums[]; };

shared uint part[64];

void main() {
	uint lane = gl_LocalInvocationID.x, at = p.first + gl_WorkGroupID.x, sum = 0;
	for (uint i = lane; i < p.parts; i += 64) sum += counts[at * p.parts + i];
	part[lane] = sum;
	[[unroll]] for (uint width = 32; width > 0; width >>= 1) {
		barrier();
		if (lane < width) part[lane] += part[lane + width];
	}
	if (lane == 0) sums[at] = part[0];
}
