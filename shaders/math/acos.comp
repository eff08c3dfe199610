// The arccosine: the angle of (x, √(1 − x²)).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/arc.glsl"

REAL apply(REAL x) {
	REAL a = abs(x), c = mix(a, REAL(1), a > REAL(1));
	REAL v = acrossAxis(angle(rootReal((REAL(1) - c) * (REAL(1) + c)), c), x);
	return mix(mix(v, notANumber(), a > REAL(1)), x, isNaN(x));
}
