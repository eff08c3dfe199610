// Exponential and logarithm of REAL to an ulp or two: drivers' own ones need not
// be precise, and there are none in double precision.

#if defined(F64)
#define SERIES_EXP 13
#define SERIES_LOG 21
const double EXP_LEAST = -708.0;
const double LN2_HIGH = 0.693145751953125lf, LN2_LOW = 1.42860682030941723212e-6lf;
double power2(double k) { return packDouble2x32(uvec2(0u, uint(int(k) + 1023) << 20)); }
#else
#define SERIES_EXP 7
#define SERIES_LOG 9
const float EXP_LEAST = -87.0;
const float LN2_HIGH = 0.693359375, LN2_LOW = -2.12194440e-4;
float power2(float k) { return uintBitsToFloat(uint(int(k) + 127) << 23); }
#endif

// expReal is e to the power x ≤ 88; 0 for results below the normal numbers.
REAL expReal(REAL x) {
	REAL k = floor(x * REAL(1.442695040888963407lf) + REAL(0.5));
	precise REAL r = (x - k * LN2_HIGH) - k * LN2_LOW;
	REAL y = REAL(1); // Taylor's series, |r| ≤ ln 2 / 2
	[[unroll]] for (int i = SERIES_EXP; i > 0; i--) y = REAL(1) + y * r * (REAL(1) / REAL(i));
	return x < EXP_LEAST ? REAL(0) : y * power2(k);
}

// logReal is the natural logarithm of a normal number x ≥ 1, infinity or NaN.
REAL logReal(REAL x) {
#if defined(F64)
	uvec2 b = unpackDouble2x32(x);
	int k = int(b.y >> 20) - 1023;
	REAL m = packDouble2x32(uvec2(b.x, (b.y & 0xfffffu) | 0x3ff00000u));
#else
	uint b = floatBitsToUint(x);
	int k = int(b >> 23) - 127;
	REAL m = uintBitsToFloat((b & 0x7fffffu) | 0x3f800000u);
#endif
	if (m > REAL(1.414213562373095lf)) { m *= REAL(0.5); k++; }
	REAL z = (m - REAL(1)) / (m + REAL(1)), zz = z * z, y = REAL(0);
	[[unroll]] for (int i = SERIES_LOG; i > 0; i -= 2) y = y * zz + REAL(2) / REAL(i);
	precise REAL r = REAL(k) * LN2_HIGH + (REAL(k) * LN2_LOW + y * z);
	return isNaN(x) || x == infinity() ? x : r;
}
