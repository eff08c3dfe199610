// The gradient of hard swish: x/3 + ½ between −3 and 3, 0 up to −3, and 1 from 3 on, times d.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/math.glsl"

REAL gradient(REAL x, REAL d) {
	precise REAL sum = x + REAL(1.5); // x/3 + ½ loses digits near −1.5
	sum = mix(sum, REAL(0), x <= REAL(-3));
	REAL v = mix(sum / REAL(3), REAL(1), x >= REAL(3));
	return mix(d * v, x, isNaN(x));
}
