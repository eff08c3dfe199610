// The gradient of GELU in its tanh form.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/slope.glsl"
#include "lib/gelu.glsl"

REAL slope(REAL x, REAL d) { return d * geluSlope(x); }
