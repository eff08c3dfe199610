// The steps along k of matmul_panel.comp: how its invocations read the rows of A, and add their products with rows of B. They have WG
// invocations, each of which makes ROWS rows.

// STEPS is the number of rows of B for a texel of A, and DOT adds their products. ACROSS is element h of each of so many vectors.
#if defined(F64)
#define STEPS 2
#define ACROSS(t, h) VEC(t[0][h], t[1][h])
#define DOT(x, y, j, sum) fma(VEC(x.y), y[1][j], fma(VEC(x.x), y[0][j], sum))
#else
#define STEPS 4
#define ACROSS(t, h) VEC(t[0][h], t[1][h], t[2][h], t[3][h])
#define DOT(x, y, j, sum) fma(VEC(x.w), y[3][j], fma(VEC(x.z), y[2][j], fma(VEC(x.y), y[1][j], fma(VEC(x.x), y[0][j], sum))))
#endif

// FETCHES is the number of texels of A for each step of an invocation, A_AT is where a row of fetch i begins in A, and FOR_ROWS runs step k of each row i, with its texel x.
#if defined(TURNED)
#define FETCHES ROWS
#define A_AT(i) min(row + i, p.m - 1) / STEPS
#define FOR_ROWS(run) [[unroll]] for (uint s = 0; s < ROWS; s += STEPS) { \
	VEC t[STEPS]; \
	[[unroll]] for (int q = 0; q < STEPS; q++) t[q] = VECTOR(a, ai[s] + (STEPS * k + q) * int(p.aRow)); \
	[[unroll]] for (uint h = 0; h < STEPS; h++) { \
		VEC x = ACROSS(t, h); \
		uint i = s + h; \
		run \
	} \
}
#elif defined(LANES)
#define FETCHES (ROWS / WG)
#define A_AT(i) min(row + WG * i + gl_LocalInvocationID.x, p.m - 1) * p.aRow
#define FOR_ROWS(run) [[unroll]] for (uint g = 0; g < FETCHES; g++) { \
	VEC t = VECTOR(a, ai[g] + k); \
	[[unroll]] for (uint h = 0; h < WG; h++) { \
		VEC x = subgroupShuffle(t, h); \
		uint i = WG * g + h; \
		run \
	} \
}
#else
#define FETCHES ROWS
#define A_AT(i) min(row + i, p.m - 1) * p.aRow
#define FOR_ROWS(run) [[unroll]] for (uint i = 0; i < ROWS; i++) { \
	VEC x = VECTOR(a, ai[i] + k); \
	run \
}
#endif
