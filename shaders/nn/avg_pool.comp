// The mean of each window: the sum of its elements, divided by the number of coordinates
// that count. It is 0 if none count.
#version 450
#extension GL_GOOGLE_include_directive : require
#define IDENTITY REAL(0)
#define NO_INDEX 0u
#include "lib/pool.glsl"
#include "lib/pool_sum.glsl"

REAL term(REAL x) { return x; }
REAL result(Accumulator a) { return a.a / REAL(max(a.index, 1u)); }
