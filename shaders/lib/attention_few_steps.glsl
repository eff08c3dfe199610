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

// KEEP ends the score s of a key, and SCORES makes those of n keys, each WG after the one before. One pack of the query serves all of them.
#define KEEP(s, key) { \
	REAL v_ = (s) * scale; \
	if ((flags & FLAG_MASK) != 0u) v_ += OF(mask, m0 + (key) * masked); \
	weights[key] = v_; \
	top = larger(top, v_); \
}
#define SCORES(n) { \
	REAL part[n][PACK]; \
	uint ki[n]; \
	[[unroll]] for (uint u = 0; u < n; u++) ki[u] = (k0 + (key + u * WG) * kRow) / PACK; \
	[[unroll]] for (uint u = 0; u < n; u++) [[unroll]] for (uint e = 0; e < PACK; e++) part[u][e] = REAL(0); \
	for (uint d = 0; d < depth; d += PACK) { \
		uvec4 raw[n]; \
		[[unroll]] for (uint u = 0; u < n; u++) raw[u] = FETCH(k, ki[u] + d / PACK); \
		REAL x[PACK] = unpack(FETCH(q, qi + d / PACK)); \
		[[unroll]] for (uint u = 0; u < n; u++) { \
			REAL y[PACK] = unpack(raw[u]); \
			[[unroll]] for (uint e = 0; e < PACK; e++) part[u][e] = fma(x[e], y[e], part[u][e]); \
		} \
	} \
	[[unroll]] for (uint u = 0; u < n; u++) { \
		REAL s = REAL(0); \
		[[unroll]] for (uint e = 0; e < PACK; e++) s += part[u][e]; \
		KEEP(s, key + u * WG) \
	} \
}

// VALUES adds n values, each some slices after the one before.
#define VALUES(n) { \
	uvec4 raw[n]; \
	[[unroll]] for (uint u = 0; u < n; u++) raw[u] = FETCH(v, vi + u * far); \
	[[unroll]] for (uint u = 0; u < n; u++) { \
		REAL w = weights[key + u * slices], y[PACK] = unpack(raw[u]); \
		total += w; \
		[[unroll]] for (uint e = 0; e < PACK; e++) sum[e] = fma(w, y[e], sum[e]); \
	} \
}

REAL larger(REAL a, REAL b) { return mix(a, b, b > a); }
