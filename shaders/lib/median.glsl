// The median of three by three values, by a sorting network. Include after VALUE, LEAST(a, b)
// and MOST(a, b) are defined, which work on each component alone.

// Three values of a row, sorted.
struct Sorted {
	VALUE low;
	VALUE mid;
	VALUE high;
};

Sorted sorted(VALUE a, VALUE b, VALUE c) {
	VALUE low = LEAST(a, b), high = MOST(a, b), rest = MOST(low, c);
	return Sorted(LEAST(low, c), LEAST(high, rest), MOST(high, rest));
}

VALUE middle(VALUE a, VALUE b, VALUE c) { return MOST(LEAST(a, b), LEAST(MOST(a, b), c)); }

// median is the middle one of the nine values of three rows.
VALUE median(Sorted a, Sorted b, Sorted c) {
	return middle(MOST(MOST(a.low, b.low), c.low), middle(a.mid, b.mid, c.mid), LEAST(LEAST(a.high, b.high), c.high));
}
