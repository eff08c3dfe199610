// The rows of lib/apply.glsl: an invocation maps PACKS packs of one row.

void main() {
	uint packs = p.n / PACK, parts = (packs + PACKS - 1) / PACKS;
	uint i = flatGroup() * WG + gl_LocalInvocationID.x, row = i / parts, at = (i - row * parts) * PACKS;
	if (row * p.n >= p.count || !CLEAR) return;
	uint from = p.base / PACK + row * packs;
	uvec4 raw[PACKS];
	[[unroll]] for (uint u = 0; u < PACKS; u++) raw[u] = FETCH(src, min(from + at + u, p.last));
#if INPUTS == 2
	uvec4 raw2[PACKS];
	[[unroll]] for (uint u = 0; u < PACKS; u++) raw2[u] = FETCH(src2, min(from + at + u, p.last));
#endif
	Accumulator s;
	GET_ACCUMULATOR(s, states, p.states + row * ACCUMULATOR_WORDS)
	[[unroll]] for (uint u = 0; u < PACKS; u++) {
		REAL v[PACK] = unpack(raw[u]);
#if INPUTS == 2
		REAL w[PACK] = unpack(raw2[u]);
#else
		REAL w[PACK] = v;
#endif
		uint first = min(at + u, packs - 1) * PACK;
		[[unroll]] for (uint j = 0; j < PACK; j++) v[j] = apply(v[j], w[j], s, first + j);
		if (at + u < packs) dst[from + at + u] = repack(v);
	}
}
