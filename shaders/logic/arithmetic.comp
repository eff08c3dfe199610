// Arithmetic of integers, which wraps. words[0] is what to compute: 0 the sum, 1 the difference, 2 the
// product, 3 the smaller and 4 the larger of both; of the first element alone 5 the magnitude, 6 the
// sign and 7 the negative. words[1] is 1 if elements have a sign.
#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#include "lib/raw_any.glsl"
#include "lib/pairs.glsl"
#include "lib/high_product.glsl"

#if BITS == 64
uvec2 sum(uvec2 a, uvec2 b) {
	uint low = a.x + b.x;
	return uvec2(low, a.y + b.y + mix(0u, 1u, low < a.x));
}
uvec2 product(uvec2 a, uvec2 b) { return uvec2(a.x * b.x, highProduct(a.x, b.x) + a.x * b.y + a.y * b.x); }
const uvec2 ALL = uvec2(0xffffffffu), SIGN = uvec2(0u, 0x80000000u);
#else
uvec2 sum(uvec2 a, uvec2 b) { return a + b; }
uvec2 product(uvec2 a, uvec2 b) { return a * b; }
const uvec2 ALL = uvec2(0xffffffffu >> (32 - BITS), 0u), SIGN = uvec2(1u << (BITS - 1), 0u);
#endif

uvec2 apply(uvec2 a, uvec2 b) {
	uint f = p.words[0];
	uvec2 sign = mix(uvec2(0u), SIGN, bvec2(p.words[1] != 0u)), m = a & sign;
	bool minus = (m.x | m.y) != 0u, below = lessPair(a ^ sign, b ^ sign);
	uvec2 one = uvec2(min(a.x | a.y, 1u), 0u), other = negPair(a);
	uvec2 r = mix(sum(a, b), subPair(a, b), bvec2(f == 1u));
	r = mix(r, product(a, b), bvec2(f == 2u));
	r = mix(r, mix(b, a, bvec2(below)), bvec2(f == 3u));
	r = mix(r, mix(a, b, bvec2(below)), bvec2(f == 4u));
	r = mix(r, mix(a, other, bvec2(minus)), bvec2(f == 5u));
	r = mix(r, mix(one, ALL, bvec2(minus)), bvec2(f == 6u));
	r = mix(r, other, bvec2(f == 7u));
	return r & ALL;
}
