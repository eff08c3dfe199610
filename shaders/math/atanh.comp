// The inverse hyperbolic tangent, ½·ln(1 + 2|x|/(1 − |x|)).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/area.glsl"

REAL apply(REAL x) {
	REAL a = abs(x), c = mix(a, REAL(0), a >= REAL(1));
	REAL v = REAL(0.5) * log1pAny((c + c) / (REAL(1) - c));
	v = mix(v, infinity(), a == REAL(1));
	return withSign(mix(v, notANumber(), a > REAL(1)), x);
}
