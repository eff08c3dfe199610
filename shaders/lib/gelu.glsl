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

// geluExp is e to the power of −|2u|; |2u| may be infinite.
REAL geluExp(REAL x) { return expDown(-abs(ROOT8_PI * x * (REAL(1) + CUBIC * x * x))); }

REAL geluReal(REAL x) {
	REAL z = geluExp(x);
	REAL v = x * mix(z, REAL(1), x >= REAL(0)) / (REAL(1) + z);
	v = mix(v, REAL(0), x < REAL(-40)); // of −∞ too
	return mix(v, x, isNaN(x));
}

// geluDerivative is the derivative of geluReal.
REAL geluDerivative(REAL x) {
	REAL c = clamp(x, REAL(-40), REAL(40)), z = geluExp(c);
	REAL q = REAL(1) / (REAL(1) + z), s = mix(z, REAL(1), c >= REAL(0)) * q;
	// z·q² is s·(1 − s) without the difference.
	REAL v = s + c * (z * q * q) * ROOT8_PI * (REAL(1) + REAL(3) * CUBIC * c * c);
	return mix(v, x, isNaN(x));
}
