// Cumulative products along an axis. Integers wrap.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/scan.glsl"
#include "lib/multiply.glsl"

REAL combine(REAL a, REAL b) { return multiply(a, b); }
REAL identity() { return ONE; }
