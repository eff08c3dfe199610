// The running sums of a table, in place: each word becomes the sum of those before it. By default one
// workgroup, of which each invocation has a part. For long tables on a GPU there are three launches:
// TOTALS adds up each block of BLOCK words, the kernel without it takes the running sums of these, and SPREAD adds
// them to those within the blocks.
//
//lathe:variant u32
//lathe:variant u32.totals TOTALS
//lathe:variant u32.spread SPREAD

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/grid.glsl"

#define WG 64
#define BLOCK 256
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // words
} p;

layout(set = 0, binding = 0) buffer TableBuffer { uint table[]; };
#if defined(TOTALS)
layout(set = 0, binding = 1) writeonly buffer BlockBuffer { uint blocks[]; };
#elif defined(SPREAD)
layout(set = 0, binding = 1) readonly buffer BlockBuffer { uint blocks[]; };
#endif

shared uint sums[WG];

void main() {
	uint own = gl_LocalInvocationID.x;
#if defined(TOTALS) || defined(SPREAD)
	uint block = flatGroup(), start = block * BLOCK;
	if (start >= p.count) return;
	uint part = BLOCK / WG, first = min(start + own * part, p.count), end = min(first + part, p.count);
#else
	uint part = (p.count + WG - 1) / WG, first = min(own * part, p.count), end = min(first + part, p.count);
#endif
	uint sum = 0u;
	for (uint i = first; i < end; i++) sum += table[i];
	sums[own] = sum;
	barrier();
#if defined(TOTALS)
	if (own > 0) return;
	sum = 0u;
	for (uint k = 0; k < WG; k++) sum += sums[k];
	blocks[block] = sum;
#else
	sum = 0u;
#if defined(SPREAD)
	sum = blocks[block];
#endif
	for (uint k = 0; k < own; k++) sum += sums[k];
	for (uint i = first; i < end; i++) {
		uint v = table[i];
		table[i] = sum;
		sum += v;
	}
#endif
}
