// Products along an axis.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/pairwise.glsl"

REAL multiply(REAL a, REAL b) { return a * b; }

Accumulator identity() { return Accumulator(REAL(1)); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(a.a * b.a); }
Accumulator finish(Accumulator s) { return s; }

void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = mix(REAL(1), v[i], at[i] < n);
	PAIRWISE(v, multiply)
	s.a *= v[0];
}
