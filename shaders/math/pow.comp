// Powers.
#version 450
#extension GL_GOOGLE_include_directive : require
#define HEAVY
#include "lib/binary.glsl"
#include "lib/power.glsl"

REAL apply(REAL a, REAL b) { return powReal(a, b); }
