// The next integer above.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) { return isNaN(x) || isInteger(x) ? x : ceil(x); }
