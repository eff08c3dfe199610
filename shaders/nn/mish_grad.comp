// The gradient of x·t with t = tanh(ln(1 + e^x)), which is n/(n + 2) with n = w·(w + 2) and w = e^x.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/math.glsl"

REAL gradient(REAL x, REAL d) {
	REAL c = mix(x, REAL(20), x > REAL(20)), w = expReal(c), n = w * (w + REAL(2));
	// 4·w·(w + 1)/(n + 2)² is the derivative of t.
	REAL q = REAL(1) / (n + REAL(2)), s = REAL(4) * w * (w + REAL(1)) * q * q;
	REAL v = mix(n * q + c * s, REAL(0), w == REAL(0)); // of −∞ too
	return mix(d * v, x, isNaN(x));
}
