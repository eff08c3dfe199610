// Elementary functions in single precision for devices whose invocations are lanes of a
// vector of the processor (LANES, QUAD). There a conversion to integers, a choice and a
// branch cost more than a product. Such devices are exact to IEEE 754, comparisons with NaN
// and subnormal numbers included.

// A sum with ROUND is rounded to an integer, which stands in its last bits.
const float ROUND = 12582912.0; // 1.5·2^23

// lowBits moves the last bits of a sum with ROUND + 127 + m to the exponent. That is 2^(n + m)
// if the sum is that of n. Infinities and NaN give any number.
float lowBits(float sum) { return uintBitsToFloat(floatBitsToUint(sum) << 23); }

// whole is x·log2(e) + bias + ROUND, and k is that without bias and ROUND. The result is
// x − k·ln 2, of |x| ≤ 2^21.
float reduceExp(float x, float bias, out float whole, out float k) {
	precise float sum = x * LOG2_E + (ROUND + bias), n = sum - (ROUND + bias);
	precise float r = (x - n * LN2_HIGH) - n * LN2_LOW;
	whole = sum;
	k = n;
	return r;
}

// expRest is e^r − 1 of |r| ≤ ½ ln 2, with the numbers of expm1Small in shorter chains.
float expRest(float r) {
	float z = r * r;
	return ((z * 0.00139262038 + (r * 0.00836319476 + 0.0416665561)) * z + (r * 0.166665763 + 0.5)) * z + r;
}

// expReal is e^x.
float expReal(float x) {
	float whole, k, c = mix(x, EXP_HIGH, x > EXP_HIGH);
	c = mix(c, EXP_LOW, c < EXP_LOW);
	float r = reduceExp(c, 126.0, whole, k);
	// 2^k is the product of two numbers that are not subnormal: 2^(k−1) and 2 for x ≥ 0, and
	// 2^(k+30) and 2^−30 below. Only the last product may be rounded.
	uint up = mix(0u, 31u << 23, x < 0.0);
	float high = uintBitsToFloat((floatBitsToUint(whole) << 23) + up), low = uintBitsToFloat(0x40000000u - up);
	return (expRest(r) + 1.0) * high * low;
}

// expDown is e^x of x ≤ 0 and of NaN: what is below the least normal number is 0.
float expDown(float x) {
	float whole, k, r = reduceExp(x, 127.0, whole, k);
	return mix((expRest(r) + 1.0) * lowBits(whole), 0.0, x < -87.33654);
}

// logReal is the natural logarithm.
float logReal(float x) { return log(x); }

// log1pReal is ln(1 + z) of 0 ≤ z ≤ 1, exact near 0 too. If z is large, 1 + z is halved.
float log1pReal(float z) {
	bool large = z > 0.41421356;
	float f = mix(z, (z - 1.0) * 0.5, large), s = f / (2.0 + f), h = 0.5 * f * f;
	return (f - (h - s * (h + atanhTail(s * s)))) + mix(0.0, 0.693147181, large);
}

// tanhReal is t/(t + 2) with t = e^2|x| − 1, which is e·2^k + (2^k − 1) with e = e^r − 1.
float tanhReal(float x) {
	float a = abs(x), whole, k, c = mix(a, 10.0, a > 10.0);
	float r = reduceExp(c + c, 127.0, whole, k), f = lowBits(whole);
	float t = expRest(r) * f + (f - 1.0);
	return uintBitsToFloat(floatBitsToUint(t / (t + 2.0)) | (floatBitsToUint(x) & 0x80000000u));
}
