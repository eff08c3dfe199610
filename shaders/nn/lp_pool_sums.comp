// The sum of powers of each window, in the type of the accumulators.
#version 450
#extension GL_GOOGLE_include_directive : require
#define WIDE_OUT
#include "lib/pool_power.glsl"

REAL result(Accumulator a) { return a.a; }
