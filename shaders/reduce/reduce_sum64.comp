// Sums of 64 bits of smaller integers along an axis. They wrap.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/sum64.glsl"
#include "lib/pairwise.glsl"
#include "lib/sum.glsl"

Accumulator identity() { return Accumulator(ZERO); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(addWrapping(a.a, b.a)); }
Accumulator finish(Accumulator s) { return s; }

void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = mix(ZERO, v[i], bvec2(at[i] < n));
	PAIRWISE(v, addWrapping)
	s.a = addWrapping(s.a, v[0]);
}
