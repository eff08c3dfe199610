// The inverse hyperbolic cosine, ln(1 + z) with z = t + √(t·(x + 1)) and t = x − 1.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/area.glsl"

REAL apply(REAL x) {
	REAL c = mix(x, HUGE_AREA, x > HUGE_AREA), t = mix(c - REAL(1), REAL(0), c < REAL(1));
	REAL v = log1pAny(t + rootReal(t * (c + REAL(1))));
	v = mix(v, logTwice(x), x > HUGE_AREA);
	return mix(mix(v, notANumber(), x < REAL(1)), x, isNaN(x));
}
