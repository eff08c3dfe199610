// The gradient of hard swish: x/3 + ½ between −3 and 3, 0 up to −3, and 1 from 3 on, times d.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary_gradient.glsl"
#include "lib/math.glsl"

REAL gradient(REAL x, REAL d) {
	precise REAL v = (x + REAL(1.5)) / REAL(3); // x/3 + ½ loses digits near −1.5
	v = mix(v, REAL(0), x <= REAL(-3));
	v = mix(v, REAL(1), x >= REAL(3));
	return mix(d * v, x, isNaN(x));
}
