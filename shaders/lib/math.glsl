// Elementary functions of REAL. Those of drivers may err by a thousand units in the last
// place, may overflow too early, or may be missing (double precision). These err by a few
// units on every device. They treat infinities, NaN and zeros as C99 does. `precise` keeps
// compilers from cancelling terms that must stay. Selections are mix, which is no branch
// (docs/shaders.md).
//
// HOST: the variant is for devices whose invocations are lanes of a vector of the processor.
// Package cpu is the only one. Its sin, cos, log and sqrt are as good as those here.

#if defined(F64)
#include "lib/math64.glsl"
#else
#include "lib/math32.glsl"
#endif

REAL notANumber() {
#if defined(F64)
	return packDouble2x32(uvec2(0u, 0x7ff80000u));
#else
	return uintBitsToFloat(0x7fc00000u);
#endif
}

// scaled is v·2^n, also where 2^n has no place in REAL: in two steps.
REAL scaled(REAL v, int n) {
	int half_ = n >> 1;
	return v * powerOfTwo(half_) * powerOfTwo(n - half_);
}

// reduce splits x for the exponential: x = r + n·ln 2 with |r| ≤ ½ ln 2. If x has no
// exponential, the result may be anything.
REAL reduce(REAL x, out int n) {
	REAL k = floor(x * LOG2_E + REAL(0.5));
	n = int(k);
	precise REAL r = (x - k * LN2_HIGH) - k * LN2_LOW;
	return r;
}

#if !defined(HOST)
// expReal is e^x.
REAL expReal(REAL x) {
	int n;
	REAL r = reduce(x, n);
	REAL v = scaled(REAL(1) + expm1Small(r), n);
	v = mix(v, infinity(), x > EXP_HIGH);
	v = mix(v, REAL(0), x < EXP_LOW);
	return mix(v, x, isNaN(x));
}
#endif

#if defined(F64)
REAL expDown(REAL x) { return expReal(x); }
#endif

// expm1Real is e^x − 1, exact near 0 too, of x ≤ EXP_HIGH/2.
REAL expm1Real(REAL x) {
	int n;
	REAL r = reduce(x, n), e = expm1Small(r), f = powerOfTwo(n);
	return mix(f * e + (f - REAL(1)), e, n == 0);
}

#if !defined(HOST)
// logReal is the natural logarithm: −∞ of 0, NaN of what is below.
REAL logReal(REAL x) {
	int n;
	REAL f = split(x, n) - REAL(1), s = f / (REAL(2) + f), h = REAL(0.5) * f * f;
	// ln(1 + f) = 2·atanh(s), arranged so that the error of s counts little.
	precise REAL v = REAL(n) * LN2_HIGH + (f - (h - (s * (h + atanhTail(s * s)) + REAL(n) * LN2_LOW)));
	v = mix(v, x, x == infinity());
	v = mix(v, -infinity(), x == REAL(0));
	v = mix(v, notANumber(), x < REAL(0));
	return mix(v, x, isNaN(x));
}

// log1pReal is ln(1 + z) of 0 ≤ z ≤ 1, exact near 0 too.
REAL log1pReal(REAL z) {
	REAL s = z / (REAL(2) + z), h = REAL(0.5) * z * z;
	REAL near = z - (h - s * (h + atanhTail(s * s)));
	return z < REAL(0.4) ? near : logReal(REAL(1) + z);
}

REAL tanhReal(REAL x) {
	REAL a = abs(x), t = expm1Real(REAL(2) * mix(REAL(20), a, a < REAL(20)));
	REAL v = t / (t + REAL(2));
	return mix(mix(v, -v, signBit(x)), x, isNaN(x));
}
#endif

#if defined(HOST)
#include "lib/math_lanes.glsl"
#endif

// sigmoidReal is 1/(1 + e^−x).
REAL sigmoidReal(REAL x) {
	REAL z = expReal(-abs(x));
	return mix(z, REAL(1), x >= REAL(0)) / (REAL(1) + z);
}

REAL erfReal(REAL x) {
	REAL a = abs(x), c = a < ERF_ONE ? a : ERF_ONE;
	REAL far = REAL(1) - expReal(logErfc(c));
	far = a >= ERF_ONE ? REAL(1) : far;
	REAL v = a < REAL(1) ? x * erfSmall(x * x) : signBit(x) ? -far : far;
	return isNaN(x) ? x : v;
}
