// The largest element along an axis, or the least if the sign is −1. NaN is
// larger than all.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/pairwise.glsl"

// keep is the larger one, or NaN if either is NaN: a comparison with NaN may give anything.
// Selections in loops are mix, as docs/shaders.md explains.
REAL keep(REAL a, REAL b) {
	REAL m = mix(a, b, b > a);
	m = mix(m, b, isNaN(b));
	return mix(m, a, isNaN(a));
}

Accumulator identity() { return Accumulator(-infinity()); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(keep(a.a, b.a)); }
Accumulator finish(Accumulator s) { return Accumulator(s.a * REAL(p.outSign)); }

void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL sign = REAL(p.sign);
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = mix(-infinity(), v[i] * sign, at[i] < n);
	PAIRWISE(v, keep)
	s.a = keep(s.a, v[0]);
}
