// The gradient of x·Φ(x), which is Φ(x) + x·φ(x) with the density φ of the normal distribution.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/gelu_erf.glsl"

REAL gradient(REAL x, REAL d) { return d * geluErfDerivative(x); }
