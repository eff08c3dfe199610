// The logistic function 1/(1 + e^−x).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) { return mix(sigmoidReal(x), x, isNaN(x)); }
