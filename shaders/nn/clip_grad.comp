// The gradient of x between a and b, and else of a constant. NaN stays NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary_gradient.glsl"

REAL gradient(REAL x, REAL d, REAL a, REAL b) {
	REAL v = mix(d, REAL(0), x < a);
	return mix(mix(v, REAL(0), x > b), x, isNaN(x));
}
