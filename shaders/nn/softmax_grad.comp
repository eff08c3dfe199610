// The gradient of softmax, once the sums of y·dy along its axis are known.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 2
#define INPUTS 2
#include "lib/apply.glsl"

REAL apply(REAL y, REAL dy, Accumulator s, uint r) { return y * (dy - s.a); }
