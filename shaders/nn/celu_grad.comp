// The gradient of the continuously differentiable exponential linear unit: d, or e^(x/a) times d where x is below 0.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary_gradient.glsl"
#include "lib/math.glsl"

REAL gradient(REAL x, REAL d, REAL a, REAL b) {
	bool below = x < REAL(0);
	REAL v = expDown(mix(REAL(0), x, below) / a);
	return mix(d * mix(REAL(1), v, below), x, isNaN(x));
}
