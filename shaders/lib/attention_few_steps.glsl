// The loops of attention_few: scores of keys, and sums of values. They use the names of its main.

uint wordOf(uvec4 r, uint i) { uvec2 h = mix(r.xy, r.zw, bvec2((i & 2u) != 0u)); return mix(h.x, h.y, (i & 1u) != 0u); }
#if BITS == 64
REAL valueOf(uvec4 r, uint e) { return packDouble2x32(mix(r.xy, r.zw, bvec2((e & 1u) != 0u))); }
#elif BITS == 32
REAL valueOf(uvec4 r, uint e) { return uintBitsToFloat(wordOf(r, e)); }
#else
REAL valueOf(uvec4 r, uint e) { return WIDEN(uvec4(wordOf(r, e / 2u) >> (e & 1u) * 16u & 0xffffu)).x; }
#endif
#define OF(name, e) valueOf(FETCH(name, (e) / PACK), e)

// KEEP ends the score s of a key of head h, and SCORES makes those of n keys, each WG after the one before. One pack of the query serves all of them, and
// one pack of a key serves all heads. A score is a sum of sums of packs, because CPU drivers carry what a loop adds to through memory.
#define KEEP(s, key) { \
	REAL v_ = (s) * scale; \
	if ((flags & FLAG_MASK) != 0u) v_ += OF(mask, m0[h] + (key) * masked); \
	weights[h][key] = v_; \
	top[h] = larger(top[h], v_); \
}
#define SCORES(n) { \
	REAL part[n][HEADS]; \
	uint ki[n]; \
	[[unroll]] for (uint u = 0; u < n; u++) ki[u] = (k0 + (key + u * WG) * kRow) / PACK; \
	[[unroll]] for (uint u = 0; u < n; u++) EACH_HEAD part[u][h] = REAL(0); \
	for (uint d = 0; d < depth; d += PACK) { \
		REAL x[HEADS][PACK]; \
		EACH_HEAD x[h] = unpack(FETCH(q, qi[h] + d / PACK)); \
		[[unroll]] for (uint u = 0; u < n; u++) { \
			REAL y[PACK] = unpack(FETCH(k, ki[u] + d / PACK)); \
			EACH_HEAD part[u][h] += productOf(x[h], y); \
		} \
	} \
	[[unroll]] for (uint u = 0; u < n; u++) EACH_HEAD KEEP(part[u][h], key + u * WG) \
}

REAL productOf(REAL x[PACK], REAL y[PACK]) {
	REAL even = x[0] * y[0], odd = x[1] * y[1];
	[[unroll]] for (uint e = 2; e < PACK; e += 2) {
		even = fma(x[e], y[e], even);
		odd = fma(x[e + 1], y[e + 1], odd);
	}
	return even + odd;
}

// ADD adds a value y with the weight of head h, and VALUES adds n values, each some slices after the one before.
#define ADD(weight) { \
	REAL w = weight; \
	total[h] += w; \
	[[unroll]] for (uint e = 0; e < PACK; e++) sum[h][e] = fma(w, y[e], sum[h][e]); \
}
#define VALUES(n) { \
	uvec4 raw[n]; \
	[[unroll]] for (uint u = 0; u < n; u++) raw[u] = FETCH(v, vi + u * far); \
	[[unroll]] for (uint u = 0; u < n; u++) { \
		REAL y[PACK] = unpack(raw[u]); \
		EACH_HEAD ADD(weights[h][key + u * slices]) \
	} \
}

REAL larger(REAL a, REAL b) { return mix(a, b, b > a); }
