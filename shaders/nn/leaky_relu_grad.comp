// The gradient of x, or of a·x where x is below 0. NaN stays NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary_gradient.glsl"

REAL gradient(REAL x, REAL d, REAL a, REAL b) { return mix(mix(d, a * d, x < REAL(0)), x, isNaN(x)); }
