// Keys whose order, as integers without a sign, is that of the elements. All NaN are one key, above
// all others, and so are both zeros.
//
//lathe:variant u8 BITS=8 OUT_BITS=32
//lathe:variant u16 BITS=16 OUT_BITS=32
//lathe:variant u32 BITS=32
//lathe:variant u64 BITS=64

#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 1
#include "lib/raw.glsl"

#if BITS == 64
#define LOW(a) a.x
#define HIGH(a) a.y
#define TOP 0x80000000u
#else
#define LOW(a) 0u
#define HIGH(a) a.x
#define TOP (1u << (BITS - 1))
#endif
#define ALL (TOP | (TOP - 1u))

// The numbers are: 1 for integers with a sign, 2 for floating-point numbers, and 3 for truth, which
// is whatever is not 0; the bits of infinity, the high word of 64 bits; and all bits if the order is reversed.
uvec2 apply(uvec2 a) {
	uint low = LOW(a), high = mix(HIGH(a), min(HIGH(a), 1u), p.words[0] == 3u), size = high & (TOP - 1u);
	bool isFloat = p.words[0] == 2u, isZero = all(bvec2(size == 0u, low == 0u));
	bool isPast = size > p.words[1], isInfinite = size == p.words[1], hasTail = low != 0u;
	bool isNumber = any(bvec2(!isFloat, !any(bvec2(isPast, all(bvec2(isInfinite, hasTail))))));
	bool isNegative = all(bvec3((high & TOP) != 0u, isFloat, !isZero));
	high = mix(high, 0u, all(bvec2(isFloat, isZero)));
	high ^= mix(mix(0u, TOP, any(bvec2(isFloat, p.words[0] == 1u))), ALL, isNegative);
	low ^= mix(0u, 0xffffffffu, isNegative);
	uvec2 key = mix(uvec2(0xffffffffu, ALL), uvec2(low, high), bvec2(isNumber));
	key ^= uvec2(p.words[2], p.words[2] & ALL);
#if BITS == 64
	return key;
#else
	return uvec2(key.y, 0u);
#endif
}
