// Sums of magnitudes along an axis. Integers wrap. Those without a sign are their magnitudes.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 i8 i16
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/pairwise.glsl"

#if defined(I64)
#include "lib/sum.glsl"
REAL add(REAL a, REAL b) { return addWrapping(a, b); }
#define MAGNITUDE(x, ok) mix(ZERO, mix(x, add(~x, uvec2(1u, 0u)), bvec2((x.y >> 31) != 0u)), bvec2(ok))
#else
REAL add(REAL a, REAL b) { return a + b; }
#if defined(I32)
#define MAGNITUDE(x, ok) mix(0, mix(x, 0 - x, x < 0), ok)
#else
#define MAGNITUDE(x, ok) mix(REAL(0), abs(x), ok)
#endif
#endif

Accumulator identity() { return Accumulator(REAL(0)); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(add(a.a, b.a)); }
Accumulator finish(Accumulator s) { return s; }

#if !defined(MERGE)
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = MAGNITUDE(v[i], at[i] < n);
	PAIRWISE(v, add)
	s.a = add(s.a, v[0]);
}
#endif
