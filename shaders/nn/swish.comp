// x·sigmoid(a·x).
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x, REAL a, REAL b) {
	REAL s = sigmoidReal(a * x);
	return mix(x * s, REAL(0), s == REAL(0)); // of an infinite x too
}
