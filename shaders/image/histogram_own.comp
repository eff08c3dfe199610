// image/histogram for bytes on CPU drivers: an invocation counts in memory of its own, and adds that to its region
// at the end. lavapipe loads from a storage buffer by a loop over the lanes with two conditions in it, and stores by
// another. For an array of the invocation it has neither.
//
// A pack is a texel of four pixels.
//
//lathe:variant u8.luma.texel U8 COUNT_LUMA
//lathe:variant u8.all.texel U8 COUNT_ALL
//lathe:variant u8.each.texel U8 COUNT_EACH
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 8) in;

layout(push_constant) uniform Params {
	uint columns; // packs a row
	uint runs;    // runs of a row
	uint all;     // runs of all rows
	uint base;    // first pack of the first row
	uint pitch;   // packs from row to row
	uint fresh;   // 1 if the counts begin at 0
} p;

layout(set = 0, binding = 0) uniform usamplerBuffer src;
layout(set = 0, binding = 1) buffer Counts { uint counts[]; };

#include "lib/histogram.glsl"

const uint RUN = 256, LANES = 8;
#if defined(COUNT_EACH)
const uint SIZE = 3 * BINS;
#else
const uint SIZE = BINS;
#endif

void main() {
	uint lane = gl_LocalInvocationID.x, region = gl_WorkGroupID.x * LANES * SIZE + lane;
	uint own[SIZE];
	for (uint i = 0; i < SIZE; i++) own[i] = 0u;
	for (uint run = gl_WorkGroupID.x; run < p.all; run += gl_NumWorkGroups.x) {
		uint left = (run % p.runs) * RUN, from = p.base + (run / p.runs) * p.pitch + left;
		uint count = min(RUN, p.columns - left);
		for (uint k = lane; k < count; k += LANES) {
			uvec4 v = texelFetch(src, int(from + k)), one = min(v >> 24, uvec4(1u));
			[[unroll]] for (uint i = 0; i < 4; i++) {
#if defined(COUNT_LUMA)
				own[lumaLevel(v[i])] += one[i];
#elif defined(COUNT_ALL)
				own[v[i] & 0xffu] += one[i];
				own[(v[i] >> 8) & 0xffu] += one[i];
				own[(v[i] >> 16) & 0xffu] += one[i];
#else
				own[v[i] & 0xffu] += one[i];
				own[((v[i] >> 8) & 0xffu) + BINS] += one[i];
				own[((v[i] >> 16) & 0xffu) + 2 * BINS] += one[i];
#endif
			}
		}
	}
	bool fresh = p.fresh != 0u;
	for (uint i = 0; i < SIZE; i++) {
		uint old = mix(counts[region + i * LANES], 0u, fresh);
		counts[region + i * LANES] = old + own[i];
	}
}
