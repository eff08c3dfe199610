// A function of each bit of two elements. Bit 2·x + y of words[0] is the result for the bits x and
// y. Bits that are not in words[1] become 0.
#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#include "lib/raw_any.glsl"

uvec2 apply(uvec2 a, uvec2 b) {
	uint table = p.words[0];
	uvec2 r = (~a & ~b & (0u - (table & 1u))) | (~a & b & (0u - ((table >> 1) & 1u)));
	r |= (a & ~b & (0u - ((table >> 2) & 1u))) | (a & b & (0u - ((table >> 3) & 1u)));
	return r & p.words[1];
}
