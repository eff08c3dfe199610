// The gradient of clamp(a·x + b, 0, 1). It is 0 at both ends. NaN stays NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary_gradient.glsl"

REAL gradient(REAL x, REAL d, REAL a, REAL b) {
	REAL v = a * x + b, c = mix(a * d, REAL(0), v <= REAL(0));
	c = mix(c, REAL(0), v >= REAL(1));
	return mix(c, v, isNaN(v));
}
