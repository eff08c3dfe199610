// The rows of lib/reduce.glsl for devices whose invocations are lanes of a vector of the
// processor. A workgroup of four invocations reduces a chunk. Neighbouring elements belong to
// neighbouring invocations, wherever a row begins. Of the elements of a block the last ones
// are read first: the engine then knows that the others lie in its memory too.

#define STRIDE (4 * BLOCK)

// reduceChunk reduces this invocation's part of chunk c of a row.
Accumulator reduceChunk(uint row, uint c, uint lane) {
	uint n = p.n, start = p.base + row * n;
	uint from = min(c * p.chunk * STRIDE, n), to = min(from + p.chunk * STRIDE, n);
	uint whole = from + (to - from) / STRIDE * STRIDE, begin = start + lane;
	Accumulator s = identity();
	for (uint k = from; k < whole; k += STRIDE) {
		Elem v[BLOCK];
		uint at[BLOCK];
		[[unroll]] for (uint u = 0; u < BLOCK; u++) v[BLOCK - 1 - u] = ELEM(begin + k + 4 * (BLOCK - 1 - u));
#if defined(INDEXED)
		[[unroll]] for (uint u = 0; u < BLOCK; u++) at[u] = k + lane + 4 * u;
		accumulate(s, v, at, n);
#else
		[[unroll]] for (uint u = 0; u < BLOCK; u++) at[u] = 0;
		accumulate(s, v, at, 1);
#endif
	}
	if (whole < to) {
		Elem v[BLOCK];
		uint at[BLOCK];
		[[unroll]] for (uint u = 0; u < BLOCK; u++) {
			at[u] = whole + lane + 4 * u;
			uint e = start + min(at[u], to - 1);
			v[u] = ELEM(e);
		}
		accumulate(s, v, at, to);
	}
	return s;
}

// FROM is the accumulator of an invocation.
#if REALS == 4
#define REALS_FROM(s, lane) subgroupBroadcast(s.a, lane), subgroupBroadcast(s.b, lane), subgroupBroadcast(s.c, lane), subgroupBroadcast(s.d, lane)
#elif REALS == 2
#define REALS_FROM(s, lane) subgroupBroadcast(s.a, lane), subgroupBroadcast(s.b, lane)
#else
#define REALS_FROM(s, lane) subgroupBroadcast(s.a, lane)
#endif
#if defined(INDEXED)
#define FROM(s, lane) Accumulator(REALS_FROM(s, lane), subgroupBroadcast(s.index, lane))
#else
#define FROM(s, lane) Accumulator(REALS_FROM(s, lane))
#endif

// gather merges the accumulators of the four invocations, always in the same order.
Accumulator gather(Accumulator s) { return merge(merge(FROM(s, 0), FROM(s, 1)), merge(FROM(s, 2), FROM(s, 3))); }

#if !defined(NO_MAIN)
layout(set = 0, binding = OUT_SLOT) writeonly buffer Made { uint made[]; };

void main() {
	uint lane = gl_LocalInvocationID.x, unit = flatGroup();
	uint c = unit % p.chunks, row = unit / p.chunks;
	if (row >= p.outer) return;
	Accumulator s = gather(reduceChunk(row, c, lane));
	if (lane == 0) {
		s = finish(s);
		PUT_ACCUMULATOR(made, p.outBase + unit * ACCUMULATOR_WORDS, s);
	}
}
#endif
