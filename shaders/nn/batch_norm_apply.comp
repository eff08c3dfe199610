// Normalises elements by what batch_norm_table has made of their channel.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 4
#define INPUTS 1
#include "lib/apply.glsl"
#include "lib/centred.glsl"

REAL apply(REAL x, REAL y, Accumulator s, uint r) { return centred(x, s) * s.b + s.c; }
