// The accumulators of layer norm: the mean minus d, the sum of squared deviations from the
// mean, the number of elements, and d. d is one of the elements. So elements that are far
// from zero and close to each other lose no digits. Include after lib/reduce.glsl. Merging:
// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances", 1979. Differences are precise: in another order they lose those digits.

Accumulator identity() { return Accumulator(REAL(0), REAL(0), REAL(0), REAL(0)); }
Accumulator finish(Accumulator s) { return s; }

// Selections are mix, and nothing returns early. With so many branches SwiftShader takes
// minutes to compile.
Accumulator merge(Accumulator a, Accumulator b) {
	bool noA = a.c == REAL(0), noB = b.c == REAL(0);
	REAL count = a.c + b.c, part = b.c / (noA ? REAL(1) : count);
	precise REAL delta = (b.d - a.d) + (b.a - a.a);
	REAL mean = a.a + delta * part, square = a.b + (b.b + delta * delta * a.c * part);
	return Accumulator(noA ? b.a : noB ? a.a : mean, noA ? b.b : noB ? a.b : square, count, noA ? b.d : a.d);
}

#if !defined(MERGE)
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL origin = s.d, count = REAL(0), sum[4] = REAL[4](REAL(0), REAL(0), REAL(0), REAL(0)), square[4] = sum;
	uint fresh = s.c == REAL(0) ? n : 0u;
	[[unroll]] for (uint i = 0; i < BLOCK; i++) origin = mix(origin, v[BLOCK - 1 - i], at[BLOCK - 1 - i] < fresh);
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		count += mix(REAL(0), REAL(1), at[i] < n);
		precise REAL rest = v[i] - origin;
		v[i] = mix(REAL(0), rest, at[i] < n);
		sum[i % 4] += v[i];
	}
	bool some = count > REAL(0);
	REAL mean = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / mix(REAL(1), count, some);
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		REAL d = mix(REAL(0), v[i] - mean, at[i] < n);
		square[i % 4] += d * d;
	}
	REAL all = s.c + count, part = count / mix(REAL(1), all, some), delta = mean - s.a;
	s.a = mix(s.a, s.a + delta * part, some);
	s.b = mix(s.b, s.b + (((square[0] + square[1]) + (square[2] + square[3])) + delta * delta * s.c * part), some);
	s.c = all;
	s.d = mix(s.d, origin, some);
}
#endif
