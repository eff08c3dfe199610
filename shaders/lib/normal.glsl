// Pairs of normal numbers from pairs of words, by the transform that Muller published with another author in
// 1958. There are no functions of the driver, and every product and every sum is rounded by itself, so all
// devices give the same bits. Include after lib/philox.glsl.

// logOf is ln(n/2^24) of 1 ≤ n ≤ 2^24, by a polynomial of at most 7.5e-9 relative error for the logarithm
// of 1 + f.
float logOf(int n) {
	uint bits = floatBitsToUint(float(n));
	// The exponent such that the rest lies between √½ and √2.
	int e = int(bits - 0x3f3504f3u) >> 23;
	float f = uintBitsToFloat(bits - (uint(e) << 23)) - 1.0;
	float s = sum(0.128066108, product(f, -0.0745118633));
	s = sum(-0.132660314, product(f, s));
	s = sum(0.141996503, product(f, s));
	s = sum(-0.166083694, product(f, s));
	s = sum(0.200009391, product(f, s));
	s = sum(-0.250015795, product(f, s));
	s = sum(0.333333462, product(f, s));
	s = sum(-0.499999881, product(f, s));
	s = sum(1.0, product(f, s));
	return sum(product(float(e - 24), 0.693147181), product(f, s));
}

// nearer is a step of Newton's method for 1/√(2h).
float nearer(float r, float h) { return product(r, sum(1.5, -product(h, product(r, r)))); }

// rootOf is √v of v ≥ 0, by Newton's method for 1/√v.
float rootOf(float v) {
	float h = product(v, 0.5), r = uintBitsToFloat(0x5f3759dfu - (floatBitsToUint(v) >> 1));
	r = nearer(r, h);
	r = nearer(r, h);
	r = nearer(r, h);
	return product(v, nearer(r, h));
}

// normals are r·cos(a) and r·sin(a). The first word makes r, and the second one a.
vec2 normals(uint first, uint second) {
	float r = rootOf(product(-2.0, logOf(int(first >> 8) + 1)));
	// The quarter turn nearest to a, and what is left of a.
	int turn = int(second >> 8), quarter = (turn + (1 << 21)) >> 22;
	float x = product(float(turn - (quarter << 22)), 3.74507042e-7), z = product(x, x); // π/2 · 2^-22
	float a = sum(-1.98412698e-4, product(z, 2.75573192e-6));
	a = sum(8.33333333e-3, product(z, a));
	a = sum(-1.66666667e-1, product(z, a));
	float sine = sum(x, product(x, product(z, a)));
	float b = sum(-1.38888889e-3, product(z, 2.48015873e-5));
	b = sum(4.16666667e-2, product(z, b));
	b = sum(-0.5, product(z, b));
	float cosine = sum(1.0, product(z, b));
	bool odd = (quarter & 1) != 0;
	a = mix(cosine, sine, odd);
	b = mix(sine, cosine, odd);
	a = mix(a, -a, quarter == 1 || quarter == 2);
	b = mix(b, -b, quarter == 2 || quarter == 3);
	return vec2(product(r, a), product(r, b));
}
