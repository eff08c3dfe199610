// The largest element along an axis, or the least if the sign is −1. NaN is
// larger than all.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/fold.glsl"
#include "lib/fold_tree.glsl"

REAL larger(REAL a, REAL b) { return b > a || isNaN(b) ? b : a; }
// keep keeps a if it is NaN: a comparison with it may be anything.
REAL keep(REAL a, REAL b) { return isNaN(a) ? a : larger(a, b); }

State identity() { return State(-infinity()); }
State merge(State a, State b) { return State(keep(a.a, b.a)); }
State finish(State s) { return State(s.a * REAL(p.outSign)); }

void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL sign = REAL(p.sign);
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = at[i] < n ? v[i] * sign : -infinity();
	PAIRWISE(v, keep)
	s.a = keep(s.a, v[0]);
}
