// The angle of the vector (b, a), in all four quadrants.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/binary.glsl"
#include "lib/arc.glsl"

REAL apply(REAL a, REAL b) {
	REAL y = abs(a), x = abs(b);
	bool yInf = y == infinity(), xInf = x == infinity();
	// Infinite vectors become short ones of the same angle.
	y = mix(mix(y, REAL(0), xInf), REAL(1), yInf);
	x = mix(mix(x, mix(REAL(0), REAL(1), xInf), yInf), REAL(1), xInf);
	// Quotients of very large or very small numbers are not exact on every device.
	REAL most = mix(x, y, y > x);
	bool small = most < REAL(8.673617379884035e-19), large = most > REAL(1152921504606846976.0); // 2^−60, 2^60
	REAL factor = mix(REAL(1), REAL(5.421010862427522e-20), large); // 2^−64
	y = mix(y * factor, lifted(y), small);
	x = mix(x * factor, lifted(x), small);
	REAL v = acrossAxis(angle(y, mix(x, REAL(1), y + x == REAL(0))), b);
	return mix(withSign(v, a), b, isNaN(b));
}
