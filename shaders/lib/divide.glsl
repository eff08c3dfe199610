// quotient is a / b, rounded down, for a below 2^30 and any b but 0. CPU drivers divide integers one lane after the other, and
// floats all at once. A quotient of floats may be far off, but the rest that it leaves is small, and so is the error
// of the quotient of that.
uint quotient(uint a, uint b) {
	float inverse = 1.0 / float(b);
	uint q = uint(float(a) * inverse);
	int rest = int(a - q * b), more = int(floor(float(rest) * inverse));
	q += uint(more);
	rest -= more * int(b);
	return q + uint(uint(max(rest, 0)) >= b) - uint(rest < 0);
}
