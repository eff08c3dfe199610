// The arctangent: the angle of (1, x).
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/arc.glsl"

REAL apply(REAL x) {
	REAL a = abs(x);
	return withSign(angle(mix(a, REAL(1152921504606846976.0), a > REAL(1152921504606846976.0)), REAL(1)), x); // 2^60
}
