// What the inverse hyperbolic functions share.

#include "lib/arc.glsl"

// The square of HUGE_AREA, 2^28, and larger ones keep no digit of a 1 that is added.
const REAL HUGE_AREA = REAL(268435456);

// logTwice is ln(2·x) of x ≥ HUGE_AREA, which overflows nowhere.
REAL logTwice(REAL x) { return logReal(x) + (LN2_HIGH + LN2_LOW); }

// log1pAny is ln(1 + z) of z ≥ 0, exact near 0 too.
REAL log1pAny(REAL z) {
	REAL s = z / (REAL(2) + z), h = REAL(0.5) * z * z;
	REAL near = z - (h - s * (h + atanhTail(s * s)));
	return mix(logReal(REAL(1) + z), near, z < REAL(0.4));
}
