// The columns of lib/reduce.glsl.

layout(set = 0, binding = OUT_SLOT) buffer Made { uint made[]; };

#if defined(ODD)
// shiftPack is the pack that begins at element r of a and continues in b.
uvec4 shiftPack(uvec4 a, uvec4 b, uint r) {
	uint bits = r * BITS;
	if ((bits & 64) != 0) { a = uvec4(a.zw, b.xy); b = uvec4(b.zw, 0, 0); }
	if ((bits & 32) != 0) { a = uvec4(a.yzw, b.x); b = uvec4(b.yzw, 0); }
#if BITS <= 16
	if ((bits & 16) != 0) a = a >> 16 | uvec4(a.yzw, b.x) << 16;
#endif
#if BITS == 8
	uint next = b.x >> (bits & 16);
	a = mix(a, a >> 8 | uvec4(a.yzw, next) << 24, bvec4((bits & 8) != 0));
#endif
	return a;
}
#define LOAD(raw, name) { \
	uvec4 next_[UNROLL]; \
	[[unroll]] for (uint u = 0; u < UNROLL; u++) { \
		raw[u] = FETCH(name, min((at0 + u * inner) / PACK, last)); \
		next_[u] = FETCH(name, min((at0 + u * inner) / PACK + 1, last)); \
	} \
	[[unroll]] for (uint u = 0; u < UNROLL; u++) raw[u] = shiftPack(raw[u], next_[u], (at0 + u * inner) % PACK); \
}
#else
#define LOAD(raw, name) [[unroll]] for (uint u = 0; u < UNROLL; u++) raw[u] = FETCH(name, min((at0 + u * inner) / PACK, last));
#endif

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	uint inner = p.inner, n = p.n, last = p.last, steps = p.chunk;
	uint packs = (inner + PACK - 1) / PACK;
	uint x = i % packs, unit = i / packs, c = unit % p.chunks, o = unit / p.chunks;
	if (o >= p.outer) return;
	uint row = c * steps * UNROLL;
	uint at0 = p.base + (o * n + row) * inner + x * PACK;
	Accumulator s[PACK];
	[[unroll]] for (uint j = 0; j < PACK; j++) s[j] = identity();
	for (uint k = 0; k < steps; k++) {
		uvec4 raw[UNROLL];
		LOAD(raw, src)
		REAL e[UNROLL][PACK];
		[[unroll]] for (uint u = 0; u < UNROLL; u++) e[u] = unpack(raw[u]);
#if INPUTS == 2
		LOAD(raw, src2)
		REAL f[UNROLL][PACK];
		[[unroll]] for (uint u = 0; u < UNROLL; u++) f[u] = unpack(raw[u]);
#endif
		uint at[BLOCK];
		[[unroll]] for (uint u = 0; u < UNROLL; u++) at[u] = row + u;
		[[unroll]] for (uint j = 0; j < PACK; j++) {
			Elem v[BLOCK];
#if INPUTS == 2
			[[unroll]] for (uint u = 0; u < UNROLL; u++) v[u] = Elem(e[u][j], f[u][j]);
#else
			[[unroll]] for (uint u = 0; u < UNROLL; u++) v[u] = e[u][j];
#endif
			accumulate(s[j], v, at, n);
		}
		row += UNROLL;
		at0 += UNROLL * inner;
	}
	uint to = p.outBase + (unit * inner + x * PACK) * ACCUMULATOR_WORDS;
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		if (x * PACK + j < inner) {
			if (p.carry != 0) {
				Accumulator before;
				GET_ACCUMULATOR(before, made, to + j * ACCUMULATOR_WORDS);
				s[j] = merge(before, s[j]);
			}
			s[j] = finish(s[j]);
			PUT_ACCUMULATOR(made, to + j * ACCUMULATOR_WORDS, s[j]);
		}
	}
}
