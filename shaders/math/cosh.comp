// The hyperbolic cosine, ½·h² + ½/h² with h = e^(|x|/2). The first term overflows only where
// the cosine does.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/math.glsl"

REAL apply(REAL x) {
	REAL h = expReal(REAL(0.5) * abs(x));
	return mix((REAL(0.5) * h) * h + (REAL(0.5) / h) / h, x, isNaN(x));
}
