// Square roots. Drivers may be some units off: one step of Newton's method corrects that.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

#if defined(HOST)
REAL apply(REAL x) { return sqrt(x); }
#else
REAL apply(REAL x) {
	bool plain = isPositive(x);
	REAL root, a = lift(plain ? x : REAL(1), root), s = sqrt(a);
	precise REAL v = s + (a - s * s) / (s + s);
	return plain ? v * root : isNegative(x) ? notANumber() : x;
}
#endif
