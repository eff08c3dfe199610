// One over the square root.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

#if defined(HOST)
REAL apply(REAL x) { return REAL(1) / sqrt(x); }
#else
REAL apply(REAL x) {
	REAL root, a = lift(isPositive(x) ? x : REAL(1), root);
	REAL v = REAL(1) / (sqrt(a) * root);
	v = x == infinity() ? REAL(0) : v;
	v = isZero(x) ? (signBit(x) ? -infinity() : infinity()) : v;
	v = isNegative(x) ? notANumber() : v;
	return isNaN(x) ? x : v;
}
#endif
