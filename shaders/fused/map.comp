// The template of fused elementwise operations. linked sets the first n of four elements at number
// quad, in fours. With LANES it sets elements quad, quad + WG and so on, four in all, but none from number n on. The workgroup's
// begin at element begin.
//
//lathe:variant quads QUADS
//lathe:variant texel TEXEL
//lathe:variant lanes LANES
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/fused.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(LANES)
void linked(const uint quad, const uint n, const uint begin) { any_[quad] = n + begin; }

void main() {
	uint begin = flatGroup() * (WG * 4), at = begin + gl_LocalInvocationID.x;
	if (at < p.words[2]) linked(at, p.words[2], begin);
}
#else
void linked(const uint quad, const uint n) { any_[quad] = n; }

#if defined(TEXEL)
void main() {
	uint at = flatGroup() * (WG * PACKS) + gl_LocalInvocationID.x, last = (p.words[2] - 1) / 4;
	[[dont_unroll]] for (uint u = 0; u < PACKS; u++) {
		linked(min(at, last), mix(0u, min(p.words[2] - at * 4, 4u), at <= last));
		at += WG;
	}
}
#else
void main() {
	uint at = flatGroup() * WG + gl_LocalInvocationID.x;
	if (at * 4 < p.words[2]) linked(at, min(p.words[2] - at * 4, 4u));
}
#endif
#endif
