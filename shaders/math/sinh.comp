// The hyperbolic sine. With t = e^|x| − 1 it is ½·(t + t/(t + 1)), which is exact near 0.
// Far from 0 it is ½·e^|x|, as the square of e^(|x|/2): that overflows only where the sine does.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) {
	REAL a = abs(x), t = expm1Real(mix(REAL(20), a, a < REAL(20)));
	REAL h = expReal(REAL(0.5) * a);
	REAL v = mix(REAL(0.5) * (t + t / (t + REAL(1))), (REAL(0.5) * h) * h, a >= REAL(20));
	return mix(mix(v, -v, signBit(x)), x, isNaN(x));
}
