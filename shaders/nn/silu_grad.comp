// The gradient of x·sigmoid(x).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/silu_grad.glsl"

REAL gradient(REAL x, REAL d) { return d * siluDerivative(x); }
