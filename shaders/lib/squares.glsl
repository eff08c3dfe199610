// The states of RMS norm: sums of squares. Include after lib/fold.glsl.

#include "lib/fold_tree.glsl"

REAL add(REAL a, REAL b) { return a + b; }

State identity() { return State(REAL(0)); }
State merge(State a, State b) { return State(a.a + b.a); }
State finish(State s) { return s; }

#if !defined(MERGE)
void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = mix(REAL(0), v[i] * v[i], at[i] < n);
	PAIRWISE(v, add)
	s.a += v[0];
}
#endif
