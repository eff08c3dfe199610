// An element less the mean, by the accumulator of its row or channel (lib/moments.glsl).

// centred takes d and the rest of the mean off x. Both differences are precise: where all elements are far from zero, the
// sum of d and the rest has lost the digits that count, and a driver may compute it once for all elements.
REAL centred(REAL x, Accumulator s) {
	precise REAL v = (x - s.d) - s.a;
	return v;
}
