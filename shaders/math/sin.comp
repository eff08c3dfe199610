// The sine.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/trig.glsl"

REAL apply(REAL x) { return sinQuarters(x, 0); }
