// Quotients of integers, rounded towards 0. What is divided by 0 becomes 0. words[1] is 1 if elements
// have a sign.
#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define HEAVY
#include "lib/raw_any.glsl"
#include "lib/pairs.glsl"

#if BITS == 64
const uvec2 ALL = uvec2(0xffffffffu), SIGN = uvec2(0u, 0x80000000u);
uvec2 quotient(uvec2 a, uvec2 b) {
	uvec2 rest;
	return dividePair(a, b, rest);
}
#else
const uvec2 ALL = uvec2(0xffffffffu >> (32 - BITS), 0u), SIGN = uvec2(1u << (BITS - 1), 0u);
uvec2 quotient(uvec2 a, uvec2 b) { return uvec2(a.x / max(b.x, 1u), 0u); }
#endif

uvec2 apply(uvec2 a, uvec2 b) {
	uvec2 sign = mix(uvec2(0u), SIGN, bvec2(p.words[1] != 0u)), m = a & sign, n = b & sign;
	bool aMinus = (m.x | m.y) != 0u, bMinus = (n.x | n.y) != 0u;
	uvec2 q = quotient(mix(a, negPair(a) & ALL, bvec2(aMinus)), mix(b, negPair(b) & ALL, bvec2(bMinus)));
	q = mix(q, negPair(q) & ALL, bvec2(aMinus != bMinus));
	return mix(q, uvec2(0u), bvec2((b.x | b.y) == 0u));
}
