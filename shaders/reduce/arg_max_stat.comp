// The largest element along an axis and its index, or the least one's if the sign
// is −1. NaN is larger than all; of equals the first counts.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#define INDEXED
#include "lib/fold.glsl"

State identity() { return State(-infinity(), 0xffffffffu); }
State finish(State s) { return s; }

// merge prefers NaN, then the larger, then the earlier.
State merge(State a, State b) {
	bool an = isNaN(a.a), bn = isNaN(b.a);
	bool later = an == bn && (an || a.a == b.a) ? b.index < a.index : bn || !an && b.a > a.a;
	return later ? b : a;
}

#if !defined(MERGE)
void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL sign = REAL(p.sign);
	uint first = p.first;
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		// An element of none is that of no elements at all.
		State t = State(at[i] < n ? v[i] * sign : -infinity(), at[i] < n ? at[i] + first : 0xffffffffu);
		s = merge(s, t);
	}
}
#endif
