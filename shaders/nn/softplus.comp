// ln(1 + e^x), which overflows nowhere.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) {
	REAL v = log1pReal(expReal(-abs(x))) + mix(REAL(0), x, x > REAL(0));
	return mix(v, x, isNaN(x));
}
