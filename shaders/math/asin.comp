// The arcsine: the angle of (√(1 − x²), x).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/arc.glsl"

REAL apply(REAL x) {
	REAL a = abs(x), c = mix(a, REAL(1), a > REAL(1));
	REAL v = angle(c, rootReal((REAL(1) - c) * (REAL(1) + c)));
	return withSign(mix(v, notANumber(), a > REAL(1)), x);
}
