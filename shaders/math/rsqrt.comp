// One over the square root.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) {
	bool plain = x > REAL(0) && x < infinity();
	REAL v = REAL(1) / sqrt(plain ? x : REAL(1));
	v = x == infinity() ? REAL(0) : v;
	v = x == REAL(0) ? (signBit(x) ? -infinity() : infinity()) : v;
	v = x < REAL(0) ? notANumber() : v;
	return isNaN(x) ? x : v;
}
