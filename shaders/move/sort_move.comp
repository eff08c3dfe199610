// Puts the pairs of a chunk where the running sums of the table say.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/sort.glsl"

layout(set = 0, binding = 0) readonly buffer KeyBuffer { uint keys[]; };
layout(set = 0, binding = 1) readonly buffer TableBuffer { uint table[]; };
layout(set = 0, binding = 2) writeonly buffer PairBuffer { uint pairs[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x, own = gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint row = (p.first + i) / p.chunks, c = p.first + i - row * p.chunks;
	for (uint d = 0; d < 16; d++) counters[d * 64 + own] = table[(row * 16 + d) * p.chunks + c];
	uint begin = row * p.row + c * p.chunk, end = min(begin + p.chunk, (row + 1u) * p.row);
	uint from = p.base + (begin - p.from) * p.words, word = wordOf();
	for (uint e = begin; e < end; e++) {
		uint key[KEY];
		[[unroll]] for (uint k = 0; k < KEY; k++) key[k] = keys[from + k];
		uint position = keys[from + p.words - 1u];
		position = mix(position, e - row * p.row, p.words == KEY);
#if KEY == 2
		uint digit = mix(key[0], key[1], word != 0u);
#else
		uint digit = key[0];
#endif
		uint counter = digitOf(digit) * 64 + own, at = counters[counter] - p.to;
		counters[counter]++;
		if (at < p.have) {
			at = p.at + at * (KEY + 1);
			[[unroll]] for (uint k = 0; k < KEY; k++) pairs[at + k] = key[k];
			pairs[at + KEY] = position;
		}
		from += p.words;
	}
}
