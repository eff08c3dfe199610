// clamp(a·x + b, 0, 1).
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary.glsl"

REAL apply(REAL x, REAL a, REAL b) {
	REAL v = a * x + b, c = mix(v, REAL(0), v < REAL(0));
	c = mix(c, REAL(1), v > REAL(1));
	return mix(c, v, isNaN(v));
}
