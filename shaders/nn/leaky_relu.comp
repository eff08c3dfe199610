// x, or a·x where x is below 0.
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary.glsl"

REAL apply(REAL x, REAL a, REAL b) { return mix(x, a * x, x < REAL(0)); }
