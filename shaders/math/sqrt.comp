// Square roots. Drivers may be some units off: one step of Newton's method mends it.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) {
	bool plain = x > REAL(0) && x < infinity();
	REAL a = plain ? x : REAL(1), s = sqrt(a);
	precise REAL v = s + (a - s * s) / (s + s);
	return plain ? v : x < REAL(0) ? notANumber() : x;
}
