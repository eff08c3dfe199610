// The Gaussian error linear unit in its tanh form, written with a sigmoid:
// x·½·(1 + tanh(u)) = x·sigmoid(2u).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/gelu.glsl"

REAL apply(REAL x) { return geluReal(x); }
