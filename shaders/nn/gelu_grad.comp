// The gradient of GELU in its tanh form.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/gelu.glsl"

REAL gradient(REAL x, REAL d) { return d * geluDerivative(x); }
