// The states of layer norm: the mean relative to d, the sum of squared
// deviations from it, how many elements there were, and d, an element among them:
// elements far from zero and close to each other lose nothing that way. Include
// after lib/fold.glsl. Merging: Chan, Golub and LeVeque, "Updating formulae and a
// pairwise algorithm for computing sample variances", 1979.

State identity() { return State(REAL(0), REAL(0), REAL(0), REAL(0)); }
State finish(State s) { return s; }

State merge(State a, State b) {
	if (a.c == REAL(0)) return b;
	if (b.c == REAL(0)) return a;
	REAL count = a.c + b.c, part = b.c / count, delta = (b.d - a.d) + (b.a - a.a);
	return State(a.a + delta * part, a.b + (b.b + delta * delta * a.c * part), count, a.d);
}

#if !defined(MERGE)
void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL origin = s.d, count = REAL(0), sum[4] = REAL[4](REAL(0), REAL(0), REAL(0), REAL(0)), square[4] = sum;
	bool none = s.c == REAL(0);
	[[unroll]] for (uint i = 0; i < BLOCK; i++) origin = none && at[BLOCK - 1 - i] < n ? v[BLOCK - 1 - i] : origin;
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		bool ok = at[i] < n;
		count += ok ? REAL(1) : REAL(0);
		v[i] = ok ? v[i] - origin : REAL(0);
		sum[i % 4] += v[i];
	}
	if (count > REAL(0)) {
		REAL mean = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / count;
		[[unroll]] for (uint i = 0; i < BLOCK; i++) {
			REAL d = at[i] < n ? v[i] - mean : REAL(0);
			square[i % 4] += d * d;
		}
		REAL all = s.c + count, part = count / all, delta = mean - s.a;
		s.a += delta * part;
		s.b += ((square[0] + square[1]) + (square[2] + square[3])) + delta * delta * s.c * part;
		s.c = all;
		s.d = origin;
	}
}
#endif
