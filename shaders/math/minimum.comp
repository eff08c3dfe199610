// The smaller of two; NaN if either is.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/binary.glsl"

REAL apply(REAL a, REAL b) { return isNaN(a) ? a : isNaN(b) ? b : a < b ? a : b; }
