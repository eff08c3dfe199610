// The sums of a·b and of b along an axis.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 2
#define INPUTS 2
#include "lib/reduce.glsl"

Accumulator identity() { return Accumulator(REAL(0), REAL(0)); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(a.a + b.a, a.b + b.b); }
Accumulator finish(Accumulator s) { return s; }

#if !defined(MERGE)
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	REAL both[4] = REAL[4](REAL(0), REAL(0), REAL(0), REAL(0)), b[4] = both;
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		bool ok = at[i] < n;
		both[i % 4] += mix(REAL(0), v[i].a * v[i].b, ok);
		b[i % 4] += mix(REAL(0), v[i].b, ok);
	}
	s.a += (both[0] + both[1]) + (both[2] + both[3]);
	s.b += (b[0] + b[1]) + (b[2] + b[3]);
}
#endif
