// −1, 0 or 1.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"

REAL apply(REAL x) { return isNaN(x) ? x : x > REAL(0) ? REAL(1) : x < REAL(0) ? REAL(-1) : x; }
