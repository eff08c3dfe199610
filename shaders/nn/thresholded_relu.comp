// x where it is above a, and else 0. NaN stays NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary.glsl"

REAL apply(REAL x, REAL a, REAL b) { return mix(mix(REAL(0), x, x > a), x, isNaN(x)); }
