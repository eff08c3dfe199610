// Powers of REAL. y·ln x must be known to more digits than REAL has: it is kept as
// the sum of two numbers (Dekker 1971, Knuth, The Art of Computer Programming,
// volume 2, 4.2.2).

#include "lib/math.glsl"

// veil is 0, in a way that no compiler knows: the sign of what split returns.
// Compilers that unroll loops may lose `precise`, and WebGPU has none; they then
// cancel what is the point here, s − (a + b). Parameters will not do for it:
// drivers compile shaders anew for the values of uniform buffers.
uint veil;

// veiled is x, and part its upper half of digits.
#if defined(F64)
uint signWord(double x) { return unpackDouble2x32(x).y; }
double veiled(double x) { return packDouble2x32(unpackDouble2x32(x) ^ veil); }
double part(double x) { return packDouble2x32(unpackDouble2x32(x) & uvec2(0xf8000000u, 0xffffffffu)); }
#else
uint signWord(float x) { return floatBitsToUint(x); }
float veiled(float x) { return uintBitsToFloat(floatBitsToUint(x) ^ veil); }
float part(float x) { return uintBitsToFloat(floatBitsToUint(x) & 0xfffff000u); }
#endif

// twoSum is a + b: the rounded sum, and what rounding lost.
REAL twoSum(REAL a, REAL b, out REAL lost) {
	REAL s = veiled(a + b), bb = veiled(s - a);
	lost = veiled(a - veiled(s - bb)) + (b - bb);
	return s;
}

// twoProduct is a·b likewise, where nothing overflows.
REAL twoProduct(REAL a, REAL b, out REAL lost) {
	REAL p = veiled(a * b), ah = part(a), bh = part(b);
	REAL al = a - ah, bl = b - bh;
	lost = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
	return p;
}

// logTwo is ln x of x > 0 as a sum.
REAL logTwo(REAL x, out REAL low) {
	int n;
	REAL m = split(x, n), f = m - REAL(1), e1, e2, e3, e4;
	veil = signWord(m) >> 31;
	// s + sLow = f / (2 + f)
	REAL u = twoSum(REAL(2), f, e1), s = f / u;
	REAL p = twoProduct(s, u, e2);
	REAL sLow = ((veiled(f - p) - e2) - s * e1) / u;
	REAL tail = s * atanhTail(s * s);
	REAL hi = twoSum(REAL(n) * LN2_HIGH, REAL(2) * s, e3);
	hi = twoSum(hi, tail, e4);
	return twoSum(hi, ((e3 + e4) + REAL(2) * sLow) + REAL(n) * LN2_LOW, low);
}

// powReal is x^y by the rules of C99, annex F.9.4.4. Selections are mix, as in lib/math.glsl.
REAL powReal(REAL x, REAL y) {
	REAL a = abs(x), low, lost;
	REAL power = clamp(y, -HUGE_POWER, HUGE_POWER); // beyond, only a = 1 is not 0 or infinite
	bool more = a > REAL(1), fewer = a < REAL(1), negative = y < REAL(0);
	REAL l = logTwo(mix(REAL(1), a, all(bvec2(a > REAL(0), a < infinity()))), low);
	REAL p = twoProduct(l, power, lost);
	REAL q = lost + low * power;
	int n;
	REAL r = reduce(clamp(p, EXP_LOW, EXP_HIGH), n);
	REAL v = scaled(REAL(1) + expm1Small(r + q), n);
	v = mix(v, REAL(0), p < EXP_LOW);
	v = mix(v, infinity(), p > EXP_HIGH);
	v = mix(v, mix(REAL(0), infinity(), negative), a == REAL(0));
	v = mix(v, mix(infinity(), REAL(0), negative), a == infinity());
	// The power's own infinities, beside a base of 1.
	v = mix(v, mix(mix(REAL(1), REAL(0), fewer), y, more), y == infinity());
	v = mix(v, mix(mix(REAL(1), infinity(), fewer), REAL(0), more), y == -infinity());
	bool whole = isInteger(y);
	v = mix(v, -v, all(bvec3(signBit(x), whole, isOdd(y))));
	v = mix(v, notANumber(), all(bvec3(x < REAL(0), a < infinity(), !whole)));
	v = mix(mix(v, y, isNaN(y)), x, isNaN(x));
	return mix(v, REAL(1), any(bvec2(y == REAL(0), x == REAL(1))));
}
