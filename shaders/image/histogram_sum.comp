// Adds the regions of image/histogram.
//
//lathe:variant u32
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint counts;  // of a region
	uint regions;
	uint lanes;   // regions that lie mixed, a count of each after the other
} p;

layout(set = 0, binding = 0) readonly buffer Counts { uint counts[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { uint sums[]; };

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i >= p.counts) return;
	uint sum = 0;
	uint lanes = p.lanes, block = lanes * p.counts;
	for (uint from = i * lanes, r = 0; r < p.regions; r += lanes, from += block) {
		for (uint lane = 0; lane < lanes; lane++) sum += counts[from + lane];
	}
	sums[i] = sum;
}
