// The hyperbolic tangent.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) { return tanhReal(x); }
