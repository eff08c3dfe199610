// Sums of squares. Integers wrap. Include after lib/reduce.glsl.

#include "lib/pairwise.glsl"

#if defined(I64)
#include "lib/sum.glsl"
#include "lib/multiply.glsl"
REAL add(REAL a, REAL b) { return addWrapping(a, b); }
#define SQUARE(x, ok) mix(ZERO, multiply(x, x), bvec2(ok))
#else
REAL add(REAL a, REAL b) { return a + b; }
#define SQUARE(x, ok) mix(REAL(0), x * x, ok)
#endif

Accumulator identity() { return Accumulator(REAL(0)); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(add(a.a, b.a)); }
Accumulator finish(Accumulator s) { return s; }

#if !defined(MERGE)
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = SQUARE(v[i], at[i] < n);
	PAIRWISE(v, add)
	s.a = add(s.a, v[0]);
}
#endif
