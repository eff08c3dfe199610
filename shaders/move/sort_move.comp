// Puts the pairs of a chunk where the running sums of the table say.
//
//lathe:variant u32

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/sort.glsl"

layout(set = 0, binding = 0) readonly buffer KeyBuffer { uint keys[]; };
layout(set = 0, binding = 1) readonly buffer TableBuffer { uint table[]; };
layout(set = 0, binding = 2) writeonly buffer PairBuffer { uint pairs[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x, own = gl_LocalInvocationID.x;
	if (i * p.chunk >= p.count) return;
	for (uint d = 0; d < 16; d++) counters[d * 64 + own] = table[d * p.chunks + p.first + i];
	uint end = min((i + 1) * p.chunk, p.count);
	for (uint e = i * p.chunk; e < end; e++) {
		uint key = keys[p.base + e * p.words], c = digitOf(key) * 64 + own;
		uint position = keys[p.base + e * p.words + p.words - 1u];
		position = mix(position, p.from + e, p.words == 1u);
		uint at = counters[c] - p.to;
		counters[c]++;
		if (at < p.have) {
			pairs[p.at + 2u * at] = key;
			pairs[p.at + 2u * at + 1u] = position;
		}
	}
}
