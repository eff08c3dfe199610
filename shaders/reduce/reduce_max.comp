// The largest element along an axis, or the least if the sign is −1. NaN is
// larger than all.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/fold.glsl"
#include "lib/fold_tree.glsl"

// keep is the larger, or NaN if either is: a comparison with it may be anything.
// Selections in loops are mix, as docs/shaders.md explains.
REAL keep(REAL a, REAL b) {
	REAL m = mix(a, b, b > a);
	m = mix(m, b, isNaN(b));
	return mix(m, a, isNaN(a));
}

State identity() { return State(-infinity()); }
State merge(State a, State b) { return State(keep(a.a, b.a)); }
State finish(State s) { return State(s.a * REAL(p.outSign)); }

void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL sign = REAL(p.sign);
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = mix(-infinity(), v[i] * sign, at[i] < n);
	PAIRWISE(v, keep)
	s.a = keep(s.a, v[0]);
}
