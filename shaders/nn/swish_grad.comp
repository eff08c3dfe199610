// The gradient of x·sigmoid(a·x).
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#include "lib/unary_gradient.glsl"
#include "lib/silu_grad.glsl"

REAL gradient(REAL x, REAL d, REAL a, REAL b) { return d * siluDerivative(a * x); }
