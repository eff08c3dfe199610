// x·sigmoid(x).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) { return x == -infinity() ? REAL(0) : isNaN(x) ? x : x * sigmoidReal(x); }
