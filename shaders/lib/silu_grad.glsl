// The derivatives of the logistic function s and of t·s(t).

#include "lib/math.glsl"

// sigmoidDerivative is s(x)·s(−x) with z = e^−|x|: no difference loses digits.
REAL sigmoidDerivative(REAL x) {
	REAL z = expDown(-abs(x)), q = REAL(1) / (REAL(1) + z);
	return mix(z * q * q, x, isNaN(x));
}

// siluDerivative is s(t)·(1 + t·s(−t)): 0 of −∞ and 1 of ∞.
REAL siluDerivative(REAL t) {
	REAL z = expDown(-abs(t)), q = REAL(1) / (REAL(1) + z);
	bool up = t >= REAL(0);
	REAL s = mix(z, REAL(1), up) * q, m = mix(REAL(1), z, up) * q;
	REAL v = s * (REAL(1) + mix(t * m, REAL(0), m == REAL(0)));
	v = mix(v, REAL(0), s == REAL(0)); // of −∞ too
	return mix(v, t, isNaN(t));
}
