// Elementary functions in single precision, to a few units of the last place
// wherever the result is a normal number. lib/math.glsl explains why they are
// our own, and builds the others from them.

// powerOfTwo is 2^n of −126 ≤ n ≤ 127.
float powerOfTwo(int n) { return uintBitsToFloat(uint(n + 127) << 23); }

const int LEAST_EXPONENT = -150, MOST_EXPONENT = 129;
const float EXP_LOW = -104.0, EXP_HIGH = 89.0;
const float LOG2_E = 1.44269504, LN2_HIGH = 0.693359375, LN2_LOW = -2.12194440e-4;

// expm1Small is e^r − 1 of |r| ≤ ½ ln 2: what follows r + r²/2 interpolates at
// Chebyshev's nodes.
float expm1Small(float r) {
	return r + r * r * (0.5 + r * (0.166665763 + r * (0.0416665561 + r * (0.00836319476 + r * 0.00139262038))));
}

#if !defined(HOST)
// expDown is e^x of x ≤ 0 and of NaN, in fewer steps than expReal: what is below
// the least normal number is 0.
float expDown(float x) {
	float k = floor(x * LOG2_E + 0.5);
	precise float r = (x - k * LN2_HIGH) - k * LN2_LOW;
	float v = uintBitsToFloat(floatBitsToUint(1.0 + expm1Small(r)) + (uint(int(k)) << 23));
	v = mix(v, 0.0, x < -87.33654);
	return mix(v, x, isNaN(x));
}
#endif

// split takes x > 0 apart: x = m·2^n with √½ ≤ m < √2. Subnormal numbers are
// read as the integers they are, for a device may take them for 0.
float split(float x, out int n) {
	int bits = int(floatBitsToUint(x)), sub = 0;
	if (bits < 0x00800000) {
		bits = int(floatBitsToUint(float(bits)));
		sub = 149;
	}
	n = (bits - 0x3f3504f3) >> 23;
	bits -= n << 23;
	n -= sub;
	return uintBitsToFloat(uint(bits));
}

// Of numbers as bits, for a device may take subnormal ones for 0: isPositive leaves
// out infinity, isNegative does not.
bool isPositive(float x) { return floatBitsToUint(x) - 1u < 0x7f7fffffu; }
bool isNegative(float x) { return floatBitsToUint(x) - 0x80000001u < 0x7f800000u; }
bool isZero(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0u; }

// lift makes a normal number of x > 0; the root of that, times root, is that of x.
float lift(float x, out float root) {
	int bits = int(floatBitsToUint(x));
	bool sub = bits < 0x00800000;
	root = mix(1.0, 2.6469779601696886e-23, sub); // 2^−75
	return mix(x, float(bits) * 2.0, sub);
}

// atanhTail is 2·(atanh(s) − s)/s of z = s² ≤ 0.03.
float atanhTail(float z) { return z * (6.66666667e-1 + z * (4.00000006e-1 + z * (2.85714286e-1 + z * 2.22222222e-1))); }

bool isInteger(float x) { return abs(x) >= 8388608.0 || floor(x) == x; }

// isOdd is for integers.
bool isOdd(float x) { return abs(x) < 16777216.0 && (int(abs(x)) & 1) == 1; }

// HUGE_POWER takes anything but 1 to 0 or infinity.
const float HUGE_POWER = 8589934592.0;

bool signBit(float x) { return (floatBitsToUint(x) & 0x80000000u) != 0u; }

// erfSmall is erf(x)/x of z = x² ≤ 1, logErfc is ln erfc(x) of 0.95 ≤ x ≤ 4: both
// interpolate at Chebyshev's nodes.
const float ERF_ONE = 4.0;
float erfSmall(float z) {
	REAL r = -9.667044571e-6;
	r = r * z + 0.0001126595903;
	r = r * z + -0.0008484080406;
	r = r * z + 0.005221031808;
	r = r * z + -0.02686543073;
	r = r * z + 0.112837825;
	r = r * z + -0.3761263847;
	r = r * z + 1.128379167;
	return r;
}
float logErfc(float x) {
	REAL r = 1.647860446e-8;
	r = r * x + -4.97029186e-7;
	r = r * x + 6.593947161e-6;
	r = r * x + -4.919837895e-5;
	r = r * x + 0.0002070906359;
	r = r * x + -0.0002582886482;
	r = r * x + -0.002760340865;
	r = r * x + 0.02318543249;
	r = r * x + -0.1065267344;
	r = r * x + -0.6343488402;
	r = r * x + -1.12919053;
	r = r * x + 0.000129785792;
	return r;
}
