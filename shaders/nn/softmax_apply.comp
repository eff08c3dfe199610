// Softmax, once the accumulators of its columns are known.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 2
#define INPUTS 1
#include "lib/apply.glsl"
#include "lib/math.glsl"

REAL apply(REAL x, REAL y, Accumulator s, uint r) {
	REAL m = s.a == -infinity() ? REAL(0) : s.a; // a row of −∞ becomes zeros
	return s.b == REAL(0) ? REAL(0) : expDown(x - m) / s.b;
}
