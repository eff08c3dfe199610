// The columns of lib/reduce.glsl for devices whose invocations are lanes of a vector of the
// processor. A workgroup of four invocations reduces WIDTH vectors of neighbouring columns
// over a chunk of n. It reads BLOCK rows at a time, from the first to the last of its
// columns, because rows may be pages of memory apart. If inner is no multiple of four, the
// last vector of a row overlaps the one before.

#if REALS == 1
#define WIDTH 128
#define STEPS 4 // vectors that follow each other: the engine looks once whether a row of them is in its memory
#else
#define WIDTH 32
#define STEPS 1
#endif

layout(set = 0, binding = OUT_SLOT) writeonly buffer Made { uint made[]; };

// TAKE adds the elements of a block of rows in the vector at element x of a row.
#if defined(INDEXED)
#define TAKE(j, x) TAKE_ROWS(j, x, k + u, k + u, n)
#else
#define TAKE(j, x) TAKE_ROWS(j, x, k + u, 0, 1)
#endif
// TAKE_SOME leaves out the rows from to on.
#define TAKE_SOME(j, x) TAKE_ROWS(j, x, min(k + u, to - 1), k + u, to)
#define TAKE_ROWS(j, x, row, index, end) { \
	Elem v[BLOCK]; \
	uint at[BLOCK]; \
	[[unroll]] for (uint u = 0; u < BLOCK; u++) { \
		v[u] = ELEM(start + (row) * inner + (x)); \
		at[u] = index; \
	} \
	accumulate(s[j], v, at, end); \
}

void main() {
	uint lane = gl_LocalInvocationID.x, group = flatGroup(), unit = group / p.lanes;
	uint c = unit % p.chunks, o = unit / p.chunks, n = p.n, inner = p.inner;
	if (o >= p.outer) return;
	uint column = (group - unit * p.lanes) * (WG * WIDTH), left = min(inner - column, WG * WIDTH);
	uint whole = left / WG, fast = whole / STEPS * STEPS, all = (left + WG - 1) / WG, last = inner - WG - column;
	uint start = p.base + o * n * inner + column + lane;
	uint from = c * p.chunk * BLOCK, to = min(from + p.chunk * BLOCK, n), k = from;
	Accumulator s[WIDTH];
	for (uint j = 0; j < all; j++) s[j] = identity();
	for (; k + BLOCK <= to; k += BLOCK) {
		for (uint j = 0; j < fast; j += STEPS)
			[[unroll]] for (uint i = 0; i < STEPS; i++) TAKE(j + STEPS - 1 - i, (j + STEPS - 1 - i) * WG)
#if STEPS > 1
		for (uint j = fast; j < whole; j++) TAKE(j, j * WG)
#endif
		if (whole < all) TAKE(whole, last)
	}
	if (k < to) {
		for (uint j = 0; j < whole; j++) TAKE_SOME(j, j * WG)
		if (whole < all) TAKE_SOME(whole, last)
	}
	uint out_ = p.outBase + (unit * inner + column + lane) * ACCUMULATOR_WORDS;
	for (uint j = 0; j < whole; j++) {
		Accumulator t = finish(s[j]);
		PUT_ACCUMULATOR(made, out_ + j * (WG * ACCUMULATOR_WORDS), t);
	}
	if (whole < all) {
		Accumulator t = finish(s[whole]);
		PUT_ACCUMULATOR(made, out_ + last * ACCUMULATOR_WORDS, t);
	}
}
