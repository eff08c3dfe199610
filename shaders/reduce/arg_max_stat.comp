// The largest element along an axis and its index, or the smallest one if the sign is −1.
// NaN is larger than all others. Of equal elements the first one counts.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#define INDEXED
#include "lib/reduce.glsl"

Accumulator identity() { return Accumulator(-infinity(), 0xffffffffu); }
Accumulator finish(Accumulator s) { return s; }

// merge prefers NaN, then the larger, then the earlier. Selections in loops are
// mix, as docs/shaders.md explains.
Accumulator merge(Accumulator a, Accumulator b) {
	bool an = isNaN(a.a), bn = isNaN(b.a), earlier = b.index < a.index;
	bool second = mix(b.a > a.a, earlier, a.a == b.a);
	second = mix(second, earlier, an);
	second = mix(second, bn, an != bn);
	return Accumulator(mix(a.a, b.a, second), mix(a.index, b.index, second));
}

#if !defined(MERGE)
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL sign = REAL(p.sign);
	uint first = p.first;
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		// An element beyond the end is the identity.
		bool some = at[i] < n;
		s = merge(s, Accumulator(mix(-infinity(), v[i] * sign, some), mix(0xffffffffu, at[i] + first, some)));
	}
}
#endif
