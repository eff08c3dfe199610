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

// merge prefers NaN, then the larger, then the earlier. Selections in loops are
// mix, as docs/shaders.md explains.
State merge(State a, State b) {
	bool an = isNaN(a.a), bn = isNaN(b.a), earlier = b.index < a.index;
	bool second = mix(b.a > a.a, earlier, a.a == b.a);
	second = mix(second, earlier, an);
	second = mix(second, bn, an != bn);
	return State(mix(a.a, b.a, second), mix(a.index, b.index, second));
}

#if !defined(MERGE)
void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL sign = REAL(p.sign);
	uint first = p.first;
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		// An element of none is that of no elements at all.
		bool some = at[i] < n;
		s = merge(s, State(mix(-infinity(), v[i] * sign, some), mix(0xffffffffu, at[i] + first, some)));
	}
}
#endif
