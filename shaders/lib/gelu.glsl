// The tanh form of GELU (Hendrycks and Gimpel 2016), x·½·(1 + tanh u) with
// u = √(2/π)·(x + 0.044715·x³), and its derivative. ½·(1 + tanh u) is
// sigmoid(2u), which loses nothing where tanh nears −1.

#include "lib/math.glsl"

#if defined(F64)
const REAL ROOT8_PI = 1.5957691216057307117LF; // 2·√(2/π)
const REAL CUBIC = 0.044715LF;
#else
const REAL ROOT8_PI = 1.59576912;
const REAL CUBIC = 0.044715;
#endif

REAL geluReal(REAL x) {
	// Beyond ±40 the result is x or 0, and x³ might overflow.
	REAL c = clamp(x, REAL(-40), REAL(40));
	REAL v = x * sigmoidReal(ROOT8_PI * c * (REAL(1) + CUBIC * c * c));
	return isNaN(x) ? x : x < REAL(-40) ? REAL(0) : v;
}

// geluSlope is the derivative of geluReal.
REAL geluSlope(REAL x) {
	REAL c = clamp(x, REAL(-40), REAL(40));
	REAL s = sigmoidReal(ROOT8_PI * c * (REAL(1) + CUBIC * c * c));
	REAL t = expReal(-abs(ROOT8_PI * c * (REAL(1) + CUBIC * c * c)));
	// s·(1 − s) without the difference.
	REAL bell = t / ((REAL(1) + t) * (REAL(1) + t));
	REAL v = s + c * bell * ROOT8_PI * (REAL(1) + REAL(3) * CUBIC * c * c);
	return isNaN(x) ? x : v;
}
