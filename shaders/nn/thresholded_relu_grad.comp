// The gradient of x where it is above a, and else of 0. NaN stays NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary_gradient.glsl"

REAL gradient(REAL x, REAL d, REAL a, REAL b) { return mix(mix(REAL(0), d, x > a), x, isNaN(x)); }
