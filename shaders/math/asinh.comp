// The inverse hyperbolic sine, ln(1 + z) with z = |x| + x²/(1 + √(1 + x²)).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/area.glsl"

REAL apply(REAL x) {
	REAL a = abs(x), c = mix(a, HUGE_AREA, a > HUGE_AREA), z = c * c;
	REAL v = log1pAny(c + z / (REAL(1) + rootReal(REAL(1) + z)));
	return withSign(mix(v, logTwice(a), a > HUGE_AREA), x);
}
