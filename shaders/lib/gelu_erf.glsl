// The normal distribution, for the Gaussian error linear unit.

#include "lib/math.glsl"

#if defined(F64)
const double ROOT_HALF = 0.70710678118654752440LF, NORMAL_TOP = 0.39894228040143267794LF; // 1/√(2π)
#else
const float ROOT_HALF = 0.707106781, NORMAL_TOP = 0.398942280; // 1/√(2π)
#endif

// normalTail is Φ(−|x|), 0 where it counts for nothing.
REAL normalTail(REAL x) {
	REAL a = abs(x) * ROOT_HALF, c = mix(a, ERF_ONE, a > ERF_ONE), n = mix(a, REAL(1), a > REAL(1));
	REAL far = REAL(0.5) * expDown(logErfc(c)), near = REAL(0.5) * (REAL(1) - n * erfSmall(n * n));
	return mix(mix(far, near, a < REAL(1)), REAL(0), a >= ERF_ONE);
}

REAL geluErf(REAL x) {
	REAL h = normalTail(x), part = mix(REAL(1) - h, h, x < REAL(0));
	return mix(mix(x * part, REAL(0), part == REAL(0)), x, isNaN(x)); // of −∞ too
}

// geluErfDerivative is Φ(x) + x·φ(x): 0 of −∞ and 1 of ∞.
REAL geluErfDerivative(REAL x) {
	REAL h = normalTail(x), part = mix(REAL(1) - h, h, x < REAL(0)), c = clamp(x, REAL(-40), REAL(40));
	return mix(part + c * (NORMAL_TOP * expDown(REAL(-0.5) * c * c)), x, isNaN(x));
}
