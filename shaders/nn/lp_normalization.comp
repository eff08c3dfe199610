// Divides each element by the norm of its row: the sum of magnitudes, or the root of the sum of
// squares if the number of elements of an accumulator is given as 2. Rows whose norm is 0 become 0.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/apply.glsl"

REAL apply(REAL x, REAL y, Accumulator s, uint r) {
	REAL norm = p.total == 2u ? sqrt(s.a) : s.a;
	return norm == REAL(0) ? REAL(0) : x / norm;
}
