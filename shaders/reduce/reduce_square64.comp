// Sums of 64 bits of the squares of integers along an axis. Squares and sums that do not fit are the largest number without a
// sign, so that sums are the same in any order.
//
//lathe:dtypes i8 i16 i32 i64
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/sum64.glsl"
#include "lib/pairwise.glsl"
#include "lib/high_product.glsl"
#include "lib/sum.glsl"

#define MOST uvec2(0xffffffffu)

uvec2 add(uvec2 a, uvec2 b) {
	uint low = a.x + b.x, high = a.y + b.y, sum = high + mix(0u, 1u, low < a.x);
	return mix(uvec2(low, sum), MOST, bvec2(any(bvec2(high < a.y, sum < high))));
}

Accumulator identity() { return Accumulator(ZERO); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(add(a.a, b.a)); }
Accumulator finish(Accumulator s) { return s; }

#if !defined(MERGE)
uvec2 square(uvec2 x) {
	bool isNegative = all(bvec2(p.sign != 0.0, (x.y >> 31) != 0u));
	x = mix(x, addWrapping(~x, uvec2(1u, 0u)), bvec2(isNegative));
	return mix(uvec2(x.x * x.x, highProduct(x.x, x.x)), MOST, bvec2(x.y != 0u));
}

void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = mix(ZERO, square(v[i]), bvec2(at[i] < n));
	PAIRWISE(v, add)
	s.a = add(s.a, v[0]);
}
#endif
