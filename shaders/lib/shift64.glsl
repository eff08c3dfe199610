// shiftRight moves a pair of words, low first, down by s bits, 0 to 63.
uvec2 shiftRight(uvec2 x, uint s) {
	uvec2 y = mix(x, uvec2(x.y, 0u), bvec2(s >= 32u));
	uint r = s & 31u;
	return uvec2(y.x >> r | (y.y << 1) << (31u - r), y.y >> r);
}
