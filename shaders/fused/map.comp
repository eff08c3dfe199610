// The template of fused elementwise operations. An invocation makes four elements at a time, or one
// with LANES: linked sets n elements from number quad on, in fours.
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

void linked(const uint quad, const uint n) { any_[quad] = n; }

#if defined(LANES)
#define EACH 4
void main() {
	uint at = flatGroup() * (WG * EACH) + gl_LocalInvocationID.x;
	if (at + WG * (EACH - 1) < p.words[0]) {
		[[unroll]] for (uint u = 0; u < EACH; u++) linked(at + WG * u, 1u);
	} else {
		[[dont_unroll]] for (uint e = at; e < p.words[0]; e += WG) linked(e, 1u);
	}
}
#elif defined(TEXEL)
void main() {
	uint at = flatGroup() * (WG * PACKS) + gl_LocalInvocationID.x, last = (p.words[0] - 1) / 4;
	[[dont_unroll]] for (uint u = 0; u < PACKS; u++) {
		linked(min(at, last), mix(0u, min(p.words[0] - at * 4, 4u), at <= last));
		at += WG;
	}
}
#else
void main() {
	uint at = flatGroup() * WG + gl_LocalInvocationID.x;
	if (at * 4 < p.words[0]) linked(at, min(p.words[0] - at * 4, 4u));
}
#endif
