// The rows of few elements of lib/apply.glsl: an invocation maps a row.

void main() {
	uint row = flatGroup() * WG + gl_LocalInvocationID.x, n = p.n, from = row * n;
	if (from >= p.count || !CLEAR) return;
	Accumulator s;
	GET_ACCUMULATOR(s, states, p.states + row * ACCUMULATOR_WORDS)
	from += p.base;
	for (uint k = 0; k < n; k++) {
		REAL x = src[from + k];
#if INPUTS == 2
		REAL y = src2[from + k];
#else
		REAL y = x;
#endif
		dst[from + k] = apply(x, y, s, k);
	}
}
