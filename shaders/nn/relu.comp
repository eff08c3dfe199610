// The rectifier: max(x, 0), and NaN of NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"

REAL apply(REAL x) { return x > 0 || isNaN(x) ? x : REAL(0); }
