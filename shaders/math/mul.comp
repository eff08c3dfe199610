// Products.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/binary.glsl"

REAL apply(REAL a, REAL b) { return a * b; }
