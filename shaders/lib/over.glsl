// Quotients of integers n below 2^31. Drivers divide vectors of integers element by element, and floats at
// once. The first quotient errs by 1024/d + 1 at most, and the second one by 1.

uint over(uint n, uint d) {
	float inverse = 1.0 / float(int(d));
	uint q = uint(int(float(int(n)) * inverse));
	q += uint(int(floor(float(int(n - q * d)) * inverse)));
	int r = int(n - q * d);
	return q + mix(0u, 1u, r >= int(d)) - mix(0u, 1u, r < 0);
}
uint rest(uint n, uint d) { return n - over(n, d) * d; }

uvec4 over(uvec4 n, uint d) {
	float inverse = 1.0 / float(int(d));
	uvec4 q = uvec4(ivec4(vec4(ivec4(n)) * inverse));
	q += uvec4(ivec4(floor(vec4(ivec4(n - q * d)) * inverse)));
	ivec4 r = ivec4(n - q * d);
	return q + mix(uvec4(0), uvec4(1), greaterThanEqual(r, ivec4(int(d)))) - mix(uvec4(0), uvec4(1), lessThan(r, ivec4(0)));
}
uvec4 rest(uvec4 n, uint d) { return n - over(n, d) * d; }
