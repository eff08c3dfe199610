// The largest magnitude along an axis. NaN is larger than all.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/fold.glsl"
#include "lib/fold_tree.glsl"

// keep is the larger of two magnitudes, or NaN if either is.
REAL keep(REAL a, REAL b) {
	REAL m = mix(a, b, b > a);
	m = mix(m, b, isNaN(b));
	return mix(m, a, isNaN(a));
}

State identity() { return State(REAL(0)); }
State merge(State a, State b) { return State(keep(a.a, b.a)); }
State finish(State s) { return s; }

void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = mix(REAL(0), abs(v[i]), at[i] < n);
	PAIRWISE(v, keep)
	s.a = keep(s.a, v[0]);
}
