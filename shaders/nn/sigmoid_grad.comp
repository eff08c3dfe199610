// The gradient of the logistic function s: s(x)·s(−x) times d.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/silu_grad.glsl"

REAL gradient(REAL x, REAL d) { return d * sigmoidDerivative(x); }
