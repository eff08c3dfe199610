// Whether elements are other than zero, as words of 0 and 1. The number of the call has the bits of
// the high word that count: a sign does not, of floating-point numbers.
//
//lathe:variant u8 BITS=8 OUT_BITS=32
//lathe:variant u16 BITS=16 OUT_BITS=32
//lathe:variant u32 BITS=32
//lathe:variant u64 BITS=64 OUT_BITS=32

#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 1
#include "lib/raw.glsl"

uvec2 apply(uvec2 a) {
#if BITS == 64
	uint bits = a.x | (a.y & p.words[0]);
#else
	uint bits = a.x & p.words[0];
#endif
	return uvec2(mix(1u, 0u, bits == 0u), 0u);
}
