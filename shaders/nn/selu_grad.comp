// The gradient of the scaled exponential linear unit: b·d, or b·a·e^x times d where x is below 0.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary_gradient.glsl"
#include "lib/math.glsl"

REAL gradient(REAL x, REAL d, REAL a, REAL b) {
	bool below = x < REAL(0);
	REAL v = a * expDown(mix(REAL(0), x, below));
	return mix(d * (b * mix(REAL(1), v, below)), x, isNaN(x));
}
