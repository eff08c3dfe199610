// The gradient of ln(1 + e^x), the logistic function times d.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/math.glsl"

REAL gradient(REAL x, REAL d) { return mix(d * sigmoidReal(x), x, isNaN(x)); }
