// Products along an axis. Integers wrap.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 i8 i16
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/multiply.glsl"
#include "lib/pairwise.glsl"

Accumulator identity() { return Accumulator(ONE); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(multiply(a.a, b.a)); }
Accumulator finish(Accumulator s) { return s; }

void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = oneOr(v[i], at[i] < n);
	PAIRWISE(v, multiply)
	s.a = multiply(s.a, v[0]);
}
