// Quotients of whole numbers, for colours that are divided by alpha.

// rounded is n/d rounded to nearest, halves up. It is at most 255, and the quotient
// of floats less than one off.
int rounded(int n, int d) {
	int q = int(float(n) / float(d) + 0.5);
	int rest = 2 * n + d - 2 * d * q;
	return q + int(rest >= 2 * d) - int(rest < 0);
}
