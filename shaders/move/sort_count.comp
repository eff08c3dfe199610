// Counts the digits of the keys of a chunk.
//
//lathe:variant u32

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/sort.glsl"

layout(set = 0, binding = 0) readonly buffer KeyBuffer { uint keys[]; };
layout(set = 0, binding = 1) writeonly buffer TableBuffer { uint table[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x, own = gl_LocalInvocationID.x;
	if (i * p.chunk >= p.count) return;
	for (uint d = 0; d < 16; d++) counters[d * 64 + own] = 0u;
	uint end = min((i + 1) * p.chunk, p.count);
	for (uint e = i * p.chunk; e < end; e++) counters[digitOf(keys[p.base + e * p.words]) * 64 + own]++;
	for (uint d = 0; d < 16; d++) table[d * p.chunks + p.first + i] = counters[d * 64 + own];
}
