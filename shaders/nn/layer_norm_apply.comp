// Layer norm, once means and squared deviations of the rows are known.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 4
#define INPUTS 1
#define AFFINE
#include "lib/apply.glsl"
#include "lib/affine.glsl"

REAL apply(REAL x, REAL y, State s, uint r) {
	REAL scale = REAL(1) / sqrt(s.b / REAL(p.total) + (REAL(p.eps) + REAL(p.epsLow)));
	uint column = p.first + r;
	uvec4 t = FETCH(affine, column / PAIRS);
	return ((x - s.d) - s.a) * scale * PAIR_SCALE(t, column) + PAIR_SHIFT(t, column);
}
