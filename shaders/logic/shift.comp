// Shifts the bits of integers. words[0] is 0 for left and 1 for right. words[1] is 1 if elements have
// a sign, which a shift to the right copies. Numbers of bits that elements do not have shift all out.
#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#include "lib/raw_any.glsl"
#include "lib/pairs.glsl"

#if BITS == 64
const uvec2 ALL = uvec2(0xffffffffu);
const uint SIGN = 0x80000000u;
#define SIGN_WORD(a) a.y
#else
const uvec2 ALL = uvec2(0xffffffffu >> (32 - BITS), 0u);
const uint SIGN = 1u << (BITS - 1);
#define SIGN_WORD(a) a.x
#endif

uvec2 apply(uvec2 a, uvec2 b) {
	bool hasSign = p.words[1] != 0u, right = p.words[0] != 0u, minus = (SIGN_WORD(a) & SIGN) != 0u;
	bool turned = hasSign && minus, copies = turned && right;
	uint n = min(b.x, uint(BITS - 1));
	a = mix(a, ~a & ALL, bvec2(copies));
	uvec2 r = mix(upPair(a, n) & ALL, downPair(a, n), bvec2(right));
	r = mix(r, uvec2(0u), bvec2((b.y | (b.x - n)) != 0u));
	return mix(r, ~r & ALL, bvec2(copies));
}
