// A step of a radix sort of rows of keys, for CPU drivers: pairs of a key and a position in the row are sorted by a
// digit of the key, of at most eight bits, and keep their order where the digits are equal. An invocation has a row, or
// a chunk of one, and counts in memory of its own. CPU drivers load and store such memory faster than shared memory,
// and a pair in the time of a word.
//
// Rows in chunks take a launch that counts, and one that puts pairs where the running sums of the counts say. The table
// of counts is that of lib/sort.glsl.
//
// The input are pairs, or with FIRST bare keys. WORDS: the words of a pair or key. The result are pairs. HIGH: with the high
// words of keys in place of their low ones. POSITIONS: positions only. VALUES: elements of so many words at the positions.
//
//lathe:variant u32.first FIRST WORDS=1
//lathe:variant u32.first.texel FIRST WORDS=1 TEXEL
//lathe:variant u64.first FIRST WORDS=2
//lathe:variant u64.first.texel FIRST WORDS=2 TEXEL
//lathe:variant u32.only FIRST WORDS=1 POSITIONS
//lathe:variant u32.only.texel FIRST WORDS=1 POSITIONS TEXEL
//lathe:variant u32.next WORDS=2
//lathe:variant u32.next.texel WORDS=2 TEXEL
//lathe:variant u64.next WORDS=2 HIGH
//lathe:variant u64.next.texel WORDS=2 HIGH TEXEL
//lathe:variant u32.last WORDS=2 POSITIONS
//lathe:variant u32.last.texel WORDS=2 POSITIONS TEXEL
//lathe:variant u32.values WORDS=2 VALUES=1
//lathe:variant u32.values.texel WORDS=2 VALUES=1 TEXEL
//lathe:variant u64.values WORDS=2 VALUES=2
//lathe:variant u64.values.texel WORDS=2 VALUES=2 TEXEL

#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

#define WG 8
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count;       // chunks that are here
	uint base;        // where the first pair is, in words
	uint chunk, row;  // pairs of a chunk, and of a row
	uint chunks;      // of a row
	uint shift, bins; // of the digit; how many digits there are
	uint part;        // COUNT, MOVE, or both
	uint at;          // where the first pair of the result is
	uint other;       // HIGH, VALUES: where the first key or element is, in words
} p;

#define COUNT 1u
#define MOVE 2u
#define BINS 256

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform usamplerBuffer source;
#define FETCH(i) texelFetch(source, int(i))
#else
layout(set = 0, binding = 0) readonly buffer SourceBuffer { uvec4 source[]; };
#define FETCH(i) source[i]
#endif
layout(set = 0, binding = 1) buffer TableBuffer { uint table[]; };
#if defined(HIGH)
layout(set = 0, binding = 3) readonly buffer KeyBuffer { uint keys[]; };
#define PAIR(key, i, position) uvec2(keys[p.other + i * 2u + 1u], position)
#elif defined(POSITIONS)
#define PAIR(key, i, position) position
#elif defined(VALUES) && VALUES == 1
layout(set = 0, binding = 3) readonly buffer ElementBuffer { uint elements[]; };
#define PAIR(key, i, position) elements[p.other + i]
#elif defined(VALUES)
layout(set = 0, binding = 3) readonly buffer ElementBuffer { uvec2 elements[]; };
#define PAIR(key, i, position) elements[p.other / 2u + i]
#else
#define PAIR(key, i, position) uvec2(key, position)
#endif
#if defined(POSITIONS) || (defined(VALUES) && VALUES == 1)
layout(set = 0, binding = 2) writeonly buffer ResultBuffer { uint result[]; };
#else
layout(set = 0, binding = 2) writeonly buffer ResultBuffer { uvec2 result[]; };
#endif

#define PER (4 / WORDS)

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint counters[BINS];
	uint chunks = p.chunks, n = p.row, bins = p.bins, shift = p.shift, part = p.part;
	uint row = i / chunks, c = i - row * chunks, first = c * p.chunk, length = min(p.chunk, n - first);
	uint begin = p.base + (row * n + first) * WORDS, texel = begin / 4u, end = (begin + length * WORDS + 3u) / 4u;
	// The place in the chunk of the first pair of the first texel, which may lie before the chunk.
	uint zero = texel * PER - begin / WORDS, cells = row * bins * chunks + c;
	if ((part & COUNT) != 0u) {
		for (uint d = 0u; d < bins; d++) counters[d] = 0u;
		uint e = zero;
		for (uint t = texel; t < end; t++) {
			uvec4 v = FETCH(t);
			[[unroll]] for (uint k = 0u; k < PER; k++) {
				if (e + k < length) counters[(v[k * WORDS] >> shift) & (bins - 1u)]++;
			}
			e += PER;
		}
	}
	if (part == COUNT) {
		for (uint d = 0u; d < bins; d++) table[cells + d * chunks] = counters[d];
		return;
	}
	uint sum = p.at + row * n;
	if (part == MOVE) {
		for (uint d = 0u; d < bins; d++) counters[d] = p.at + table[cells + d * chunks];
	} else {
		for (uint d = 0u; d < bins; d++) {
			uint count = counters[d];
			counters[d] = sum;
			sum += count;
		}
	}
	uint e = zero;
	for (uint t = texel; t < end; t++) {
		uvec4 v = FETCH(t);
		[[unroll]] for (uint k = 0u; k < PER; k++) {
			if (e + k < length) {
				uint digit = (v[k * WORDS] >> shift) & (bins - 1u), to = counters[digit];
				counters[digit] = to + 1u;
#if defined(FIRST)
				uint position = first + e + k;
#else
				uint position = v[k * WORDS + 1u];
#endif
				result[to] = PAIR(v[k * WORDS], (row * n + position), position);
			}
		}
		e += PER;
	}
}
