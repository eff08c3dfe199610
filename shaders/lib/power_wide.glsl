// Powers of floats by way of double precision, for CPU drivers. y·log2 x must be known to more
// digits than a float has. A double has them without the sums of lib/power.glsl. Chains of
// dependent operations are kept short. Polynomials interpolate at Chebyshev's nodes.

// logTwo is log2 x of the bits of x ≥ 0 to 37 binary digits. That of 0 and of infinity is finite.
double logTwo(int bits) {
	// Subnormal numbers are read as the integers they are, for a device may take them for 0.
	bool sub = bits < 0x00800000;
	bits = mix(bits, int(floatBitsToUint(float(bits))), sub);
	int n = (bits - 0x3f3504f3) >> 23;
	float m = uintBitsToFloat(uint(bits - (n << 23)));
	n -= mix(0, 149, sub);
	// log2 m is 2·atanh(s)/ln 2 of √½ ≤ m < √2.
	double f = double(m - 1.0), s = f / (2.0LF + f), z = s * s, zz = z * z;
	double low = 2.8853900817899870491LF + z * 0.96179667345154847493LF, high = 0.57708356600486586122LF + z * 0.41167376623771059218LF;
	return double(n) + s * (low + zz * (high + zz * 0.34071204156190859826LF));
}

// powerWide is x^y by the rules of C99, annex F.9.4.4, off by 1.5 units in the last place.
float powerWide(float x, float y) {
	uint xBits = floatBitsToUint(x), yBits = floatBitsToUint(y), a = xBits & 0x7fffffffu, b = yBits & 0x7fffffffu;
	// Infinite powers become large ones, so that those of 1 and −1 are 1.
	double p = double(clamp(y, -3.4e38, 3.4e38)) * logTwo(int(a));
	// The logarithms of 0 and of infinity are infinite.
	float infinite = uintBitsToFloat(((yBits ^ ~(a << 1)) & 0x80000000u) | 0x7f800000u);
	float c = mix(float(p), infinite, a - 1u >= 0x7f7fffffu);
	// 2^p is 2^k·2^r. Where it is 0 or infinite, r may be anything from −1 to 1.
	float k = floor(clamp(c, -160.0, 140.0) + 0.5), r = clamp(float(p - double(k)), -1.0, 1.0), rr = r * r;
	float low = 0.693147188026 + r * 0.240226507606, middle = 0.0555035711422 + r * 0.00961808255728, high = 0.00133908633647 + r * 0.000154531629451;
	int n = int(k), part = n >> 1;
	float v = (1.0 + r * (low + rr * (middle + rr * high))) * uintBitsToFloat(uint(part + 127) << 23) * uintBitsToFloat(uint(n - part + 127) << 23);
	float h = y * 0.5;
	bool whole = floor(y) == y, odd = all(bvec2(whole, floor(h) != h));
	v = uintBitsToFloat(floatBitsToUint(v) | mix(0u, xBits & 0x80000000u, odd));
	bool invalid = all(bvec2(xBits - 0x80000001u < 0x7f7fffffu, !whole)); // x is negative and finite
	v = mix(v, uintBitsToFloat(0x7fc00000u), any(bvec3(invalid, a > 0x7f800000u, b > 0x7f800000u)));
	return mix(v, 1.0, any(bvec2(b == 0u, xBits == 0x3f800000u)));
}
