// The softsign function, x/(1 + |x|). That of infinity is the limit.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) {
	REAL a = abs(x), v = a / (REAL(1) + a);
	v = mix(v, REAL(1), a == infinity());
	return mix(mix(v, -v, signBit(x)), x, isNaN(x));
}
