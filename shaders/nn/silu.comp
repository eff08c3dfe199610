// x·sigmoid(x).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) { return mix(mix(x * sigmoidReal(x), x, isNaN(x)), REAL(0), x == -infinity()); }
