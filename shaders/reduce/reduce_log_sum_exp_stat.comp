// The largest element m along an axis, and the sum of e^(x − m). Unlike in lib/softmax.glsl, the
// difference of two infinities of one sign is 0, so that the logarithm of the sum is right for all.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 2
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/math.glsl"

REAL down(REAL x, REAL m) { return expDown(mix(x - m, REAL(0), x == m)); }

Accumulator identity() { return Accumulator(-infinity(), REAL(0)); }
Accumulator finish(Accumulator s) { return s; }

Accumulator merge(Accumulator a, Accumulator b) {
	REAL m = mix(a.a, b.a, b.a > a.a);
	return Accumulator(m, a.b * down(a.a, m) + b.b * down(b.a, m));
}

#if !defined(MERGE)
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL m = s.a;
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		v[i] = mix(-infinity(), v[i], at[i] < n);
		m = mix(m, v[i], v[i] > m);
	}
	REAL sum[4] = REAL[4](s.b * down(s.a, m), REAL(0), REAL(0), REAL(0));
	[[unroll]] for (uint i = 0; i < BLOCK; i++) sum[i % 4] += down(v[i], m);
	s.a = m;
	s.b = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
#endif
