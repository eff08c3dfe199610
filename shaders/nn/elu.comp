// The exponential linear unit: x, or a·(e^x − 1) where x is below 0.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary.glsl"
#include "lib/elu.glsl"

REAL apply(REAL x, REAL a, REAL b) {
	bool below = x < REAL(0);
	REAL v = a * expm1Down(mix(REAL(0), x, below));
	return mix(mix(x, v, below), x, isNaN(x));
}
