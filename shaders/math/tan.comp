// The tangent: a quotient of the sine and the cosine of what is left of the argument.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/trig.glsl"

REAL apply(REAL x) {
	int n;
	REAL r = quarter(x, n);
	REAL s = mix(sinSmall(r), r, r == REAL(0)), c = cosSmall(r); // tan −0 is −0
	bool odd = (n & 1) != 0;
	return mix(mix(s, -c, odd) / mix(c, s, odd), r, isNaN(r));
}
