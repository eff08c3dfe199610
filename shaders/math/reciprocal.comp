// One over each element.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) {
	REAL a = abs(x);
	REAL v = a > REAL(0) && a < infinity() ? REAL(1) / x : a == REAL(0) ? (signBit(x) ? -infinity() : infinity()) : REAL(0);
	return isNaN(x) ? x : v;
}
