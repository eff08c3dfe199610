// The accumulators of softmax: the largest element m, and the sum of e^(x − m). Include
// after lib/reduce.glsl. Algorithm: Milakov and Gimelshein, "Online normalizer calculation
// for softmax", 2018.

#include "lib/math.glsl"

// below is what is subtracted from exponents. It is never −∞, because −∞ − (−∞) is NaN, and
// the power of an element of −∞ is 0.
REAL below(REAL m) { return mix(m, REAL(0), m == -infinity()); }

Accumulator identity() { return Accumulator(-infinity(), REAL(0)); }
Accumulator finish(Accumulator s) { return s; }

Accumulator merge(Accumulator a, Accumulator b) {
	REAL m = mix(a.a, b.a, b.a > a.a), r = below(m);
	return Accumulator(m, a.b * expDown(a.a - r) + b.b * expDown(b.a - r));
}

#if !defined(MERGE)
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL m = s.a;
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		v[i] = mix(-infinity(), v[i], at[i] < n);
		m = mix(m, v[i], v[i] > m);
	}
	REAL r = below(m), sum[4] = REAL[4](s.b * expDown(s.a - r), REAL(0), REAL(0), REAL(0));
	[[unroll]] for (uint i = 0; i < BLOCK; i++) sum[i % 4] += expDown(v[i] - r);
	s.a = m;
	s.b = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
#endif
