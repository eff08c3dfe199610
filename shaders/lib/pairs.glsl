// Integers of 64 bits as pairs of words, low first. No device needs to have them.

uvec2 negPair(uvec2 a) {
	uint low = ~a.x + 1u;
	return uvec2(low, ~a.y + mix(0u, 1u, low == 0u));
}

uvec2 subPair(uvec2 a, uvec2 b) { return uvec2(a.x - b.x, a.y - b.y - mix(0u, 1u, a.x < b.x)); }

// lessPair compares without sign.
bool lessPair(uvec2 a, uvec2 b) {
	bool low = a.x < b.x, high = a.y < b.y;
	return mix(high, low, a.y == b.y);
}

// upPair and downPair shift by n < 64.
uvec2 upPair(uvec2 a, uint n) {
	uint s = n & 31u;
	uvec2 r = uvec2(a.x << s, (a.y << s) | ((a.x >> 1) >> (31u - s)));
	return mix(r, uvec2(0u, r.x), bvec2(n > 31u));
}
uvec2 downPair(uvec2 a, uint n) {
	uint s = n & 31u;
	uvec2 r = uvec2((a.x >> s) | ((a.y << 1) << (31u - s)), a.y >> s);
	return mix(r, uvec2(r.y, 0u), bvec2(n > 31u));
}

// topPair is the number of the highest bit of a, which is not 0.
uint topPair(uvec2 a) { return mix(uint(findMSB(a.x)), uint(findMSB(a.y)) + 32u, a.y != 0u); }

// dividePair is a/b without sign, and the remainder. Of b = 0 it is all ones, and a.
uvec2 dividePair(uvec2 a, uvec2 b, out uvec2 rest) {
	uvec2 r = uvec2(0u), q = uvec2(0u);
	[[dont_unroll]] for (uint i = 0; i < 64; i++) {
		bool over = (r.y >> 31) != 0u;
		r = uvec2((r.x << 1) | (a.y >> 31), (r.y << 1) | (r.x >> 31));
		a = uvec2(a.x << 1, (a.y << 1) | (a.x >> 31));
		bool fits = mix(!lessPair(r, b), true, over);
		r = mix(r, subPair(r, b), bvec2(fits));
		q = uvec2((q.x << 1) | mix(0u, 1u, fits), (q.y << 1) | (q.x >> 31));
	}
	rest = r;
	return q;
}
