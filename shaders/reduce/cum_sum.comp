// Cumulative sums along an axis. Integers wrap.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/scan.glsl"
#include "lib/sum.glsl"

REAL combine(REAL a, REAL b) { return addWrapping(a, b); }
REAL identity() { return ZERO; }
