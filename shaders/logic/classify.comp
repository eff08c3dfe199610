// Finds infinities and NaN. words[0] says which elements give true: 1 infinity, 2 minus infinity,
// 4 NaN. words[1] is infinity, or its high word.
#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 1
#define OUT_BITS 8
#include "lib/raw.glsl"

uvec2 apply(uvec2 a) {
#if BITS == 64
	uint high = a.y, rest = a.x;
#else
	uint high = a.x << (32 - BITS), rest = 0u;
#endif
	uint size = high & 0x7fffffffu;
	uint kind = mix(mix(1u, 2u, high != size), 4u, rest != 0u); // of a size that is infinite or more
	kind = mix(mix(0u, kind, size == p.words[1]), 4u, size > p.words[1]);
	return uvec2(mix(0u, 1u, (p.words[0] & kind) != 0u), 0u);
}
