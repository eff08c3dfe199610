// The first keys of each chunk of a row, in their order, with their positions in the row. An invocation has a chunk.
// It goes through the chunk from the end to the beginning, and keeps a sorted list in registers: a key comes before those of
// the list that are equal, as they come after it in the row. A list of more than SLOTS keys takes several rounds, each of
// which takes the keys that come after those before it.
//
// MERGE: the chunks are of pairs of a key and a position, as this kernel writes them. Where a chunk has fewer keys than the
// list, the list ends with the largest key and no position.
//
//lathe:variant u32.few KEY=1 SLOTS=4
//lathe:variant u32.few.texel KEY=1 SLOTS=4 TEXEL
//lathe:variant u32.few.merge KEY=1 SLOTS=4 MERGE
//lathe:variant u32.many KEY=1 SLOTS=16
//lathe:variant u32.many.texel KEY=1 SLOTS=16 TEXEL
//lathe:variant u32.many.merge KEY=1 SLOTS=16 MERGE
//lathe:variant u64.few KEY=2 SLOTS=4
//lathe:variant u64.few.texel KEY=2 SLOTS=4 TEXEL
//lathe:variant u64.few.merge KEY=2 SLOTS=4 MERGE
//lathe:variant u64.many KEY=2 SLOTS=16
//lathe:variant u64.many.texel KEY=2 SLOTS=16 TEXEL
//lathe:variant u64.many.merge KEY=2 SLOTS=16 MERGE

#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count;      // chunks that are here
	uint base;       // where the first key or pair is, in words
	uint chunk, row; // keys of a chunk, and of a row
	uint first;      // the number of the first chunk
	uint chunks;     // of a row
	uint from;       // the number of the first key
	uint kept;       // of each chunk, whole rounds
	uint at;         // where the first pair of the result is, in words
} p;

#if defined(MERGE)
layout(set = 0, binding = 0) readonly buffer KeyBuffer { uint keys[]; };
#elif defined(TEXEL)
layout(set = 0, binding = 0) uniform usamplerBuffer keys;
#define FETCH(i) texelFetch(keys, int(i))
#else
layout(set = 0, binding = 0) readonly buffer KeyBuffer { uvec4 keys[]; };
#define FETCH(i) keys[i]
#endif
layout(set = 0, binding = 1) writeonly buffer PairBuffer { uint pairs[]; };

// NONE is the position of what is no key.
#define NONE 0xfffffffeu
// The words of keys have their highest bits turned, so that they are compared as integers with a sign: CPUs have
// no instruction for others.
#define TOP 0x80000000u
#define LEAST int(TOP)
#define MOST 0x7fffffff
// Names on the right of || and && make no branches.
#if KEY == 2
#define AFTER(high, low, h, l) bool more_ = high > h, same_ = high == h, low_ = low > l, tail_ = same_ && low_, after_ = more_ || tail_;
#else
#define AFTER(high, low, h, l) bool after_ = high > h;
#endif

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint n = p.first + i, row = n / p.chunks, start = row * p.row;
	uint begin = start + (n - row * p.chunks) * p.chunk, end = min(begin + p.chunk, start + p.row);
	uint kept = p.kept, to = p.at + i * kept * (KEY + 1);
	// The round takes keys from the position `next` on that equal the last key of the round before, and all that come after it.
	int lastHigh = LEAST, lastLow = LEAST;
	uint next = 0u;
#if defined(MERGE)
	uint base = p.base + (begin - p.from) * (KEY + 1), steps = end - begin;
#else
	uint base = p.base + (begin - p.from) * KEY, past = base + (end - begin) * KEY;
	uint top = (past + 3u) / 4u, steps = top - base / 4u;
	// The position of the first key of texel 0, which wraps around.
	uint zero = begin - start - base / KEY, least = begin - start, most = end - start;
#endif
	for (uint made = 0u; made < kept; made += SLOTS) {
		int highs[SLOTS];
		uint at[SLOTS];
		[[unroll]] for (uint j = 0; j < SLOTS; j++) { highs[j] = MOST; at[j] = NONE; }
#if KEY == 2
		int lows[SLOTS];
		[[unroll]] for (uint j = 0; j < SLOTS; j++) lows[j] = MOST;
#endif
		for (uint s = 0u; s < steps; s++) {
#if defined(MERGE)
			uint word = base + (steps - 1u - s) * (KEY + 1);
			int high = int(keys[word + KEY - 1u]), low = int(keys[word]);
			uint position = keys[word + KEY];
			bool inside = position != NONE;
#else
			uvec4 texel = FETCH(top - 1u - s) ^ TOP;
			[[unroll]] for (int e = 4 / KEY - 1; e >= 0; e--) {
			int high = int(texel[e * KEY + KEY - 1]), low = int(texel[e * KEY]);
			uint position = zero + (top - 1u - s) * (4u / KEY) + uint(e);
			bool inside = position - least < most - least;
#endif
			AFTER(high, low, lastHigh, lastLow)
#if KEY == 2
			bool equalHigh = high == lastHigh, equalLow = low == lastLow, equal = equalHigh && equalLow;
#else
			bool equal = high == lastHigh;
#endif
			bool beyond = position >= next, again = equal && beyond, either = after_ || again, counts = either && inside, skip = !counts;
			// stays says that an element of the list stays before the new one.
			bool stays[SLOTS];
			[[unroll]] for (uint j = 0; j < SLOTS; j++) {
#if KEY == 2
				AFTER(high, low, highs[j], lows[j])
#else
				AFTER(high, low, highs[j], 0)
#endif
				stays[j] = after_ || skip;
			}
			[[unroll]] for (uint j = SLOTS - 1; j > 0; j--) {
				highs[j] = mix(mix(highs[j - 1], high, stays[j - 1]), highs[j], stays[j]);
				at[j] = mix(mix(at[j - 1], position, stays[j - 1]), at[j], stays[j]);
#if KEY == 2
				lows[j] = mix(mix(lows[j - 1], low, stays[j - 1]), lows[j], stays[j]);
#endif
			}
			highs[0] = mix(high, highs[0], stays[0]);
			at[0] = mix(position, at[0], stays[0]);
#if KEY == 2
			lows[0] = mix(low, lows[0], stays[0]);
#endif
#if !defined(MERGE)
			}
#endif
		}
		[[unroll]] for (uint j = 0; j < SLOTS; j++) {
			uint word = to + (made + j) * (KEY + 1);
#if KEY == 2
			pairs[word] = uint(lows[j]);
#endif
			pairs[word + KEY - 1u] = uint(highs[j]);
			pairs[word + KEY] = at[j];
		}
		lastHigh = highs[SLOTS - 1];
#if KEY == 2
		lastLow = lows[SLOTS - 1];
#endif
		next = at[SLOTS - 1] + 1u;
	}
}
