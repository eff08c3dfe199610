// x, or x·b where x is below 0.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/binary.glsl"

REAL apply(REAL a, REAL b) { return mix(a, a * b, a < REAL(0)); }
