// The gradient of the hyperbolic tangent: 4·s(2x)·s(−2x) times d, where s is the logistic function.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/silu_grad.glsl"

REAL gradient(REAL x, REAL d) { return d * (REAL(4) * sigmoidDerivative(x + x)); }
