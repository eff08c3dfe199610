// Sums of magnitudes along an axis.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/pairwise.glsl"

REAL add(REAL a, REAL b) { return a + b; }

Accumulator identity() { return Accumulator(REAL(0)); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(a.a + b.a); }
Accumulator finish(Accumulator s) { return s; }

#if !defined(MERGE)
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = mix(REAL(0), abs(v[i]), at[i] < n);
	PAIRWISE(v, add)
	s.a += v[0];
}
#endif
