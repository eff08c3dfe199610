// The gradient of the softsign function, 1/(1 + |x|)² times d.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/math.glsl"

REAL gradient(REAL x, REAL d) {
	REAL q = REAL(1) / (REAL(1) + abs(x));
	return mix(d * (q * q), x, isNaN(x));
}
