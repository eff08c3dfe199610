// The third power.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"

REAL apply(REAL x) { return x * x * x; }
