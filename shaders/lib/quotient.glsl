// The quotient of two floats as IEEE 754 rounds it, rounded to an integer, half to even. Devices divide with
// an error of some units in the last place, which would decide at halves. So this computes with the mantissas
// as integers. What is more than 512 becomes a number of at least 512, and NaN becomes 0. Subnormal
// numbers count as 0.

int roundedQuotient(float x, float s) {
	uint bx = floatBitsToUint(x), bs = floatBitsToUint(s), ax = bx & 0x7fffffffu, as = bs & 0x7fffffffu;
	int ex = int(ax >> 23), es = int(as >> 23), shift = ex - es + 1;
	uint mx = (ax & 0x7fffffu) | 0x800000u, ms = (as & 0x7fffffu) | 0x800000u;
	// Twice the quotient is mx/ms·2^shift. Its integer part k is at most one off, and the rest then says so. The
	// rest fits 32 bits, although mx·2^shift does not.
	uint by = uint(clamp(shift, 0, 11));
	int k = int(float(int(mx)) / float(int(ms)) * float(int(1u << by)));
	int rest = int((mx << by) - uint(k) * ms), m = int(ms);
	int low = rest < 0 ? 1 : 0, high = rest >= m ? 1 : 0;
	k += high - low;
	rest += (low - high) * m;
	// half counts halves and is the odd number next to twice the quotient, off is the distance in units of 1/ms. The quotient
	// rounds to that half if it is at most half a unit of a float away.
	int odd = k & 1, half_ = k | 1, off = mix(m - rest, rest, odd == 1);
	int below = half_ >> 1, unit = 24 - findMSB(half_);
	int n = mix(below + odd, below + (below & 1), off <= (m >> unit));
	n = mix(n, 0, shift < 0);
	n = mix(n, 1024, shift > 11);
	bool infinite = ax == 0x7f800000u, nothing = ex == 0;
	n = mix(n, 1024, infinite);
	n = mix(n, mix(1024, 0, nothing), es == 0);
	n = mix(n, 0, nothing);
	n = mix(n, 0, es == 255);
	n = mix(n, 0, ax > 0x7f800000u);
	return mix(n, -n, ((bx ^ bs) >> 31) != 0u);
}

// The exact quotient of an integer and a float, rounded once, half to even. The rest is as above.
int roundedQuotient(int x, float s) {
	uint bs = floatBitsToUint(s), as = bs & 0x7fffffffu, ax = uint(mix(x, -x, x < 0));
	int zeros = 31 - max(findMSB(ax), 0), es = int(as >> 23), shift = 151 - zeros - es;
	uint mx = ax << uint(zeros), ms = (as & 0x7fffffu) | 0x800000u;
	// Twice the quotient is mx/ms·2^shift, and mx/ms lies between 2^7 and 2^9. k becomes its integer part, and rest says
	// whether there is more.
	uint k = mx / ms, rest = mx - k * ms, left = uint(clamp(shift, 0, 2)), right = uint(clamp(-shift, 0, 10));
	uint more = (rest << left) / ms;
	rest = (rest << left) - more * ms;
	k = (k << left) + more;
	rest |= k & ((1u << right) - 1u);
	k >>= right;
	int below = int(k >> 1);
	int n = below + int(k & uint(rest != 0u || (below & 1) != 0));
	bool nothing = x == 0;
	n = mix(n, 1024, shift > 2);
	n = mix(n, 1024, es == 0);
	n = mix(n, 0, nothing);
	n = mix(n, 0, es == 255);
	return mix(n, -n, (x < 0) != ((bs >> 31) != 0u));
}
