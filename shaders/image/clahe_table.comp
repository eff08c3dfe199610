// Makes a table for each tile of an image from its histogram of luma: how much a level is to be
// raised. Counts above a limit are spread over all levels. A workgroup makes the table of a tile.
//
//lathe:dtypes u8 f32
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint first; // tile of the first workgroup
	uint clip;  // the largest count of a level, in 1/65536 of all pixels of the tile
} p;

layout(set = 0, binding = 0) readonly buffer Sums { uint sums[]; };
layout(set = 0, binding = 1) writeonly buffer Table { float table[]; };

#include "lib/histogram.glsl"

const uint EACH = BINS / 64; // levels of an invocation

#if defined(U8)
const float FULL = 255.0;
#else
const float FULL = 1.0;
#endif

void main() {
	uint at = (p.first + gl_WorkGroupID.x) * BINS, from = gl_LocalInvocationID.x * EACH;
	uint n = 0;
	for (uint i = 0; i < BINS; i++) n += sums[at + i];
	uint most = max((n >> 16) * p.clip + (((n & 0xffffu) * p.clip) >> 16), 1u);
	uint kept = 0, below = 0;
	for (uint i = 0; i < BINS; i++) {
		uint count = min(sums[at + i], most);
		kept += count;
		below += mix(0u, count, i < from);
	}
	float spread = float(n - kept) / float(BINS), all = max(float(n), 1.0);
	for (uint i = from; i < from + EACH; i++) {
		below += min(sums[at + i], most);
		float own = float(i) / float(BINS - 1), raised = (float(below) + spread * float(i + 1)) / all - own;
		table[at + i] = mix(0.0, raised * FULL, n > 0);
	}
}
