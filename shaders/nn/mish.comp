// x·tanh(ln(1 + e^x)), which is x·n/(n + 2) with n = w·(w + 2) and w = e^x.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) {
	REAL w = expReal(mix(x, REAL(20), x > REAL(20))), n = w * (w + REAL(2));
	REAL v = mix(x * (n / (n + REAL(2))), REAL(0), w == REAL(0)); // of −∞ too
	return mix(v, x, isNaN(x));
}
