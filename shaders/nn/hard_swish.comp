// Hard swish, x·clamp(x/6 + ½, 0, 1). The sum x + 3 loses nothing near −3, where the result is 0.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) {
	precise REAL sum = x + REAL(3);
	REAL v = x * sum / REAL(6);
	v = mix(v, REAL(0), x <= REAL(-3)); // of −∞ too
	v = mix(v, x, x >= REAL(3));
	return mix(v, x, isNaN(x));
}
