// Inverse functions of the circle. They all are the angle of a vector in the first quadrant.

#include "lib/math.glsl"

#if defined(F64)
const double PI_HIGH = 3.141592653589793116LF, PI_LOW = 1.2246467991473531772e-16LF;
const double TAN_EIGHTH = 0.4142135623730950488LF; // tan(π/8)

// atanTail is (atan(t)/t − 1)/z of z = t² ≤ tan(π/8)². It interpolates at Chebyshev's nodes.
double atanTail(double z) {
	return -0.333333333333333332156LF + z * (0.199999999999998025336LF + z * (-0.142857142856593272977LF + z * (0.111111111051067051426LF + z * (-0.0909090875107663587664LF + z * (0.0769229630497447005676LF + z * (-0.0666642362806925757879LF + z * (0.05878914544400621696LF + z * (-0.0523034787301607418274LF + z * (0.0455110812632517188319LF + z * (-0.0345580925514137961087LF + z * 0.0162719447516240603582LF))))))))));
}

// lifted is x·2^64 of a small x ≥ 0.
double lifted(double x) { return x * 18446744073709551616.0LF; }
#else
const float PI_HIGH = 3.14159274, PI_LOW = -8.74227766e-8;
const float TAN_EIGHTH = 0.414213562; // tan(π/8)

// atanTail is (atan(t)/t − 1)/z of z = t² ≤ tan(π/8)². It interpolates at Chebyshev's nodes.
float atanTail(float z) {
	return -0.333333317538 + z * (0.199995387948 + z * (-0.142638971126 + z * (0.107430996677 - z * 0.0644983522459)));
}

// lifted is x·2^64 of a small x ≥ 0. Subnormal numbers are read as the integers they are,
// for a device may take them for 0.
float lifted(float x) {
	int bits = int(floatBitsToUint(x));
	return mix(x * 18446744073709551616.0, float(bits) * 2.5849394142282115e-26, bits < 0x00800000); // 2^−85
}
#endif

// rootReal is the square root of 0 or of a normal number. Drivers may be some units off: one
// step of Newton's method corrects that.
REAL rootReal(REAL x) {
#if defined(HOST)
	return sqrt(x);
#else
	REAL a = mix(x, REAL(1), x == REAL(0)), s = sqrt(a);
	precise REAL v = s + (a - s * s) / (s + s);
	return mix(v, x, x == REAL(0));
#endif
}

// angle is the angle of the vector (x, y) with x, y ≥ 0. Not both are 0, and both are finite.
// The quotient of which atanTail is taken is at most tan(π/8): the angle is counted from 0,
// from π/4 or from π/2.
REAL angle(REAL y, REAL x) {
	bool near = y < TAN_EIGHTH * x, far = x < TAN_EIGHTH * y;
	REAL t = mix(mix(y - x, -x, far), y, near) / mix(mix(y + x, y, far), x, near);
	REAL z = t * t, part = mix(REAL(0.25), REAL(0.5), far);
	REAL v = t + t * z * atanTail(z);
	return mix(PI_HIGH * part + (v + PI_LOW * part), v, near);
}

// withSign is v with the sign of x, or x if that is NaN.
REAL withSign(REAL v, REAL x) { return mix(mix(v, -v, signBit(x)), x, isNaN(x)); }

// acrossAxis is the angle of (−x, y) by that of (x, y), if the sign of x says so.
REAL acrossAxis(REAL v, REAL x) { return mix(v, (PI_HIGH - v) + PI_LOW, signBit(x)); }
