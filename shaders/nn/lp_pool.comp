// The Lp norm of each window: the root of the sum of powers.
#version 450
#extension GL_GOOGLE_include_directive : require
#define IDENTITY REAL(0)
#define NO_INDEX 0u
#include "lib/pool.glsl"
#include "lib/pool_sum.glsl"
#include "lib/power.glsl"

// term is |x|^power of powers up to 15.
REAL term(REAL x) {
	REAL b = abs(x), v = REAL(1);
	[[unroll]] for (uint i = 0; i < 4; i++) {
		v = mix(v, v * b, (p.power >> i & 1u) != 0u);
		b *= b;
	}
	return v;
}

REAL result(Accumulator a) { return p.power == 1u ? a.a : powReal(a.a, REAL(1) / REAL(p.power)); }
