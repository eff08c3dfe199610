// x, but at least a and at most b. NaN stays NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary.glsl"

REAL apply(REAL x, REAL a, REAL b) {
	REAL v = mix(x, a, x < a);
	return mix(mix(v, b, v > b), x, isNaN(x));
}
