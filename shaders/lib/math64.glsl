// Elementary functions in double precision, which GLSL has none of, to a few
// units of the last place. lib/math.glsl builds the others from them.

double powerOfTwo(int n) { return packDouble2x32(uvec2(0u, uint(n + 1023) << 20)); }

const int LEAST_EXPONENT = -1076, MOST_EXPONENT = 1025;
const double EXP_LOW = -746.0LF, EXP_HIGH = 710.0LF;
const double LOG2_E = 1.4426950408889634074LF, LN2_HIGH = 6.93147180369123816490e-01LF, LN2_LOW = 1.90821492927058770002e-10LF;

// expm1Small is e^r − 1 of |r| ≤ ½ ln 2: Taylor's series.
double expm1Small(double r) {
	return r + r * r * (0.5LF + r * (0.16666666666666666667LF + r * (0.041666666666666666667LF + r * (0.0083333333333333333333LF + r * (0.0013888888888888888889LF + r * (0.0001984126984126984127LF + r * (0.000024801587301587301587LF + r * (2.7557319223985890653e-6LF + r * (2.7557319223985890653e-7LF + r * (2.5052108385441718775e-8LF + r * (2.0876756987868098979e-9LF + r * (1.6059043836821614599e-10LF + r * 1.1470745597729724714e-11LF))))))))))));
}

// split takes x > 0 apart: x = m·2^n with √½ ≤ m < √2.
double split(double x, out int n) {
	int sub = 0;
	if (x < 2.2250738585072014e-308LF) {
		x *= 18014398509481984.0LF;
		sub = 54;
	}
	uvec2 b = unpackDouble2x32(x);
	n = (int(b.y) - 0x3fe6a09e) >> 20;
	b.y = uint(int(b.y) - (n << 20));
	n -= sub;
	return packDouble2x32(b);
}

bool isPositive(double x) { return x > 0.0LF && x <= 1.7976931348623157e308LF; }
bool isNegative(double x) { return x < 0.0LF; }
bool isZero(double x) { return x == 0.0LF; }
double lift(double x, out double root) {
	root = 1.0LF;
	return x;
}

// atanhTail is 2·(atanh(s) − s)/s of z = s² ≤ 0.03.
double atanhTail(double z) { return z * (0.66666666666666666667LF + z * (0.4LF + z * (0.28571428571428571429LF + z * (0.22222222222222222222LF + z * (0.18181818181818181818LF + z * (0.15384615384615384615LF + z * (0.13333333333333333333LF + z * (0.11764705882352941176LF + z * (0.10526315789473684211LF + z * (0.095238095238095238095LF + z * 0.086956521739130434783LF)))))))))); }

bool isInteger(double x) { return abs(x) >= 4503599627370496.0LF || floor(x) == x; }

// isOdd is for integers.
bool isOdd(double x) { return abs(x) < 9007199254740992.0LF && abs(x) - 2.0LF * floor(abs(x) * 0.5LF) == 1.0LF; }

// HUGE_POWER takes anything but 1 to 0 or infinity.
const double HUGE_POWER = 4611686018427387904.0LF;

bool signBit(double x) { return (unpackDouble2x32(x).y & 0x80000000u) != 0u; }

// erfSmall is erf(x)/x of z = x² ≤ 1, logErfc is ln erfc(x) of 0.95 ≤ x ≤ 6: both
// interpolate at Chebyshev's nodes.
const double ERF_ONE = 6.0LF;
double erfSmall(double z) {
	REAL r = -4.2309458242953378173e-12LF;
	r = r * z + 8.7090451290531066896e-11LF;
	r = r * z + -1.2164560057483450081e-9LF;
	r = r * z + 1.4792401209404813002e-8LF;
	r = r * z + -1.6364642158167615302e-7LF;
	r = r * z + 1.6462045441468418937e-6LF;
	r = r * z + -0.000014925647567519332125LF;
	r = r * z + 0.0001205533290288873541LF;
	r = r * z + -0.00085483270219348295955LF;
	r = r * z + 0.0052239776254232983087LF;
	r = r * z + -0.026866170645129840806LF;
	r = r * z + 0.11283791670955120236LF;
	r = r * z + -0.37612638903183752379LF;
	r = r * z + 1.1283791670955125739LF;
	return r;
}
double logErfc(double x) {
	REAL r = 5.8688198916646871714e-19LF;
	r = r * x + -5.4445794521156464987e-17LF;
	r = r * x + 2.408259976403423838e-15LF;
	r = r * x + -6.7601296452256762533e-14LF;
	r = r * x + 1.3522080250602013277e-12LF;
	r = r * x + -2.051485882878543176e-11LF;
	r = r * x + 2.4529735951849695003e-10LF;
	r = r * x + -2.3707817079847663848e-9LF;
	r = r * x + 1.8839796080076293815e-8LF;
	r = r * x + -1.2448273877974176614e-7LF;
	r = r * x + 6.8819988605803069691e-7LF;
	r = r * x + -3.1872390794479015484e-6LF;
	r = r * x + 0.00001229825612966979541LF;
	r = r * x + -0.000038884629411646557396LF;
	r = r * x + 0.0000966960375667191537LF;
	r = r * x + -0.00016835080568455455811LF;
	r = r * x + 0.00010720993739980702657LF;
	r = r * x + 0.00044955882835078465761LF;
	r = r * x + -0.0015749551190307278927LF;
	r = r * x + 0.00012513323596441276622LF;
	r = r * x + 0.019174139556700232011LF;
	r = r * x + -0.10279134569444643606LF;
	r = r * x + -0.63661432227368924349LF;
	r = r * x + -1.128380167502683547LF;
	r = r * x + 8.706643462456477654e-8LF;
	return r;
}
