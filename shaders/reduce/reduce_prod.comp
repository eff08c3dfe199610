// Products along an axis.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/fold.glsl"
#include "lib/fold_tree.glsl"

REAL multiply(REAL a, REAL b) { return a * b; }

State identity() { return State(REAL(1)); }
State merge(State a, State b) { return State(a.a * b.a); }
State finish(State s) { return s; }

void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = mix(REAL(1), v[i], at[i] < n);
	PAIRWISE(v, multiply)
	s.a *= v[0];
}
