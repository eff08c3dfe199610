// Counts the digits of the keys of a chunk.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/sort.glsl"

layout(set = 0, binding = 0) readonly buffer KeyBuffer { uint keys[]; };
layout(set = 0, binding = 1) writeonly buffer TableBuffer { uint table[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x, own = gl_LocalInvocationID.x;
	if (i >= p.count) return;
	for (uint d = 0; d < 16; d++) counters[d * 64 + own] = 0u;
	uint row = (p.first + i) / p.chunks, c = p.first + i - row * p.chunks;
	uint begin = row * p.row + c * p.chunk, end = min(begin + p.chunk, (row + 1u) * p.row);
	uint at = p.base + (begin - p.from) * p.words + wordOf();
	for (uint e = begin; e < end; e++) {
		counters[digitOf(keys[at]) * 64 + own]++;
		at += p.words;
	}
	for (uint d = 0; d < 16; d++) table[(row * 16 + d) * p.chunks + c] = counters[d * 64 + own];
}
