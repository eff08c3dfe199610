// The gradient of the rectifier: dy where x > 0, and 0 elsewhere. NaN stays NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"

REAL gradient(REAL x, REAL d) { return isNaN(x) ? x : x > REAL(0) ? d : REAL(0); }
