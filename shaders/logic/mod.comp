// Remainders of divisions, exact for every quotient. words[0] is 0 for the sign of the divisor and 1
// for that of the dividend. words[1] is 0 for integers without sign, 1 for integers with one, and 2
// for floats, whose mantissas have words[2] bits: these are divided as the integers they are, so that
// no device needs to have their type.
#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define HEAVY
#include "lib/raw_any.glsl"
#include "lib/pairs.glsl"

#if BITS == 64
const uvec2 TOP = uvec2(0u, 0x80000000u), INF = uvec2(0u, 0x7ff00000u), BIT52 = uvec2(0u, 0x100000u), NAN64 = uvec2(0u, 0x7ff80000u);

// normal splits the magnitude of a double that is not 0: the result has its highest bit at 52.
uvec2 normal(uvec2 a, out int e) {
	e = int(a.y >> 20);
	bool sub = e == 0;
	uvec2 m = mix(uvec2(a.x, (a.y & 0xfffffu) | 0x100000u), a, bvec2(sub));
	uint s = mix(0u, 52u - topPair(m), sub);
	e -= int(s) - mix(0, 1, sub);
	return upPair(m, s);
}

// remainder is that of magnitudes of doubles, which are finite and x ≥ y > 0.
uvec2 remainder(uvec2 x, uvec2 y) {
	int e, f;
	uvec2 r = normal(x, e), m = normal(y, f);
	int d = clamp(e - f, 0, 2100);
	[[dont_unroll]] for (; d > 0; d--) {
		r = mix(subPair(r, m), r, bvec2(lessPair(r, m)));
		r = uvec2(r.x << 1, (r.y << 1) | (r.x >> 31));
	}
	r = mix(subPair(r, m), r, bvec2(lessPair(r, m)));
	bool zero = (r.x | r.y) == 0u;
	uint s = 52u - topPair(mix(r, BIT52, bvec2(zero)));
	r = upPair(r, s);
	f -= int(s);
	uvec2 big = uvec2(r.x, r.y - 0x100000u + (uint(max(f, 1)) << 20)), small = downPair(r, uint(clamp(1 - f, 0, 63)));
	return mix(mix(big, small, bvec2(f < 1)), uvec2(0u), bvec2(zero));
}

uvec2 real(uvec2 a, uvec2 b) {
	uvec2 x = a & ~TOP, y = b & ~TOP;
	bool finite = lessPair(x, INF), number = !lessPair(INF, y), some = (y.x | y.y) != 0u, short_ = lessPair(x, y), divides = finite && number, good = divides && some;
	uvec2 r = (a & TOP) | remainder(mix(BIT52, x, bvec2(good && !short_)), mix(BIT52, y, bvec2(good && !short_)));
	return mix(NAN64, mix(r, a, bvec2(short_)), bvec2(good));
}

uvec2 integer(uvec2 a, uvec2 b) {
	bool hasSign = p.words[1] != 0u, aTop = (a.y & TOP.y) != 0u, bTop = (b.y & TOP.y) != 0u;
	bool aMinus = hasSign && aTop, bMinus = hasSign && bTop;
	uvec2 x = mix(a, negPair(a), bvec2(aMinus)), y = mix(b, negPair(b), bvec2(bMinus)), r;
	uvec2 q = dividePair(x, y, r);
	bool none = (y.x | y.y) == 0u, zero = (r.x | r.y) == 0u, other = aMinus != bMinus, floored = p.words[0] == 0u;
	bool turned = floored && other, up = turned && !zero;
	r = mix(r, subPair(y, r), bvec2(up));
	r = mix(r, negPair(r), bvec2(mix(aMinus, bMinus, floored)));
	return mix(r, uvec2(0u), bvec2(none));
}

uvec2 apply(uvec2 a, uvec2 b) { return p.words[1] == 2u ? real(a, b) : integer(a, b); }
#else
const uint TOP = 1u << (BITS - 1), ALL = 0xffffffffu >> (32 - BITS);

// remainder is that of magnitudes of floats, which are finite and x ≥ y > 0.
uint remainder(uint x, uint y) {
	uint m = p.words[2], e = x >> m, f = y >> m, one = 1u << m, mask = one - 1u;
	uint a = mix((x & mask) | one, x, e == 0u), b = max(mix((y & mask) | one, y, f == 0u), 1u);
	e = max(e, 1u);
	f = max(f, 1u);
	uint r = a % b, d = min(e - min(e, f), 300u);
	[[dont_unroll]] for (uint s = 0u; d > 0u; d -= s) {
		s = min(d, 31u - m);
		r = (r << s) % b;
	}
	uint up = min(m - uint(findMSB(max(r, 1u))), f - 1u);
	return mix(((f - up - 1u) << m) + (r << up), 0u, r == 0u);
}

uint real(uint a, uint b) {
	uint m = p.words[2], x = a & (TOP - 1u), y = b & (TOP - 1u), inf = ((TOP - 1u) >> m) << m;
	bool finite = x < inf, number = y <= inf, some = y != 0u, short_ = x < y, divides = finite && number, good = divides && some;
	uint r = (a & TOP) | remainder(mix(1u << m, x, good && !short_), mix(1u << m, y, good && !short_));
	return mix(inf | (1u << (m - 1u)), mix(r, a, short_), good);
}

uint integer(uint a, uint b) {
	bool hasSign = p.words[1] != 0u, aTop = (a & TOP) != 0u, bTop = (b & TOP) != 0u;
	bool aMinus = hasSign && aTop, bMinus = hasSign && bTop;
	uint x = mix(a, (0u - a) & ALL, aMinus), y = mix(b, (0u - b) & ALL, bMinus), r = x % max(y, 1u);
	bool none = y == 0u, zero = r == 0u, other = aMinus != bMinus, floored = p.words[0] == 0u;
	bool turned = floored && other, up = turned && !zero;
	r = mix(r, y - r, up);
	r = mix(r, (0u - r) & ALL, mix(aMinus, bMinus, floored));
	return mix(r, 0u, none);
}

#if BITS == 8
uvec2 apply(uvec2 a, uvec2 b) { return uvec2(integer(a.x, b.x), 0u); }
#else
uvec2 apply(uvec2 a, uvec2 b) { return uvec2(p.words[1] == 2u ? real(a.x, b.x) : integer(a.x, b.x), 0u); }
#endif
#endif
