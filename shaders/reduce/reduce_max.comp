// The largest element along an axis, or the least if the sign is −1. NaN is
// larger than all.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 i8 u8 i16 u16 u32 u64
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/order.glsl"
#include "lib/pairwise.glsl"

Accumulator identity() { return Accumulator(LEAST); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(keep(a.a, b.a)); }
Accumulator finish(Accumulator s) { return Accumulator(flip(s.a, p.outSign)); }

void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = choose(LEAST, flip(v[i], p.sign), at[i] < n);
	PAIRWISE(v, keep)
	s.a = keep(s.a, v[0]);
}
