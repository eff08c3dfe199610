// The form of lib/raw.glsl for any strides, 0 where an operand is broadcast. The output is contiguous
// and may begin anywhere in four elements. No two invocations write to one word.

layout(push_constant) uniform Params {
#if OPERANDS == 3
	uint n[6], a[6], b[6], c[6]; // sizes and strides in elements, innermost first
	uint rank, count;            // dimensions and elements
	uint base[4];                // where the first element of each operand is, the output last
#else
	uint n[8], a[8], b[8];
	uint rank, count;
	uint base[3];
	uint words[3]; // numbers of the call
#endif
} p;

layout(set = 0, binding = 0) readonly buffer ABuffer { uint aSrc[]; };
layout(set = 0, binding = 1) readonly buffer BBuffer { uint bSrc[]; };
#if OPERANDS > 2
layout(set = 0, binding = 2) readonly buffer CBuffer { uint cSrc[]; };
#endif

// ELEMENT(bits, name, e) is element e of an operand.
#define ELEMENT_8(name, e) uvec2((name[(e) >> 2] >> (((e) & 3u) * 8u)) & 0xffu, 0u)
#define ELEMENT_16(name, e) uvec2((name[(e) >> 1] >> (((e) & 1u) * 16u)) & 0xffffu, 0u)
#define ELEMENT_32(name, e) uvec2(name[e], 0u)
#define ELEMENT_64(name, e) uvec2(name[2u * (e)], name[2u * (e) + 1u])
#define STRIDED_JOIN(a, b) a##b
#define ELEMENT(bits, name, e) STRIDED_JOIN(ELEMENT_, bits)(name, e)

#if OPERANDS == 3
#define LAST_STRIDE(d) p.c[d]
#else
#define LAST_STRIDE(d) 0u
#endif

// row is where a row of each operand begins.
uvec3 row(uint i) {
	uvec3 at = uvec3(p.base[0], p.base[1], OPERANDS == 3 ? p.base[2] : 0u);
	for (uint d = 1; d < p.rank; d++) {
		uint q = i / p.n[d], k = i - q * p.n[d];
		at += k * uvec3(p.a[d], p.b[d], LAST_STRIDE(d));
		i = q;
	}
	return at;
}

#define STRIDED_MAP { \
	uint i = flatGroup() * WG + gl_LocalInvocationID.x, base = p.base[OPERANDS]; \
	if (i * 4u >= base + p.count) return; \
	uint begin = min(max(base, i * 4u) - i * 4u, 4u), end = min(base + p.count - i * 4u, 4u); \
	uint first = i * 4u + begin - base, n = p.n[0]; \
	uint y = first / n, x = first - y * n; \
	uvec3 at = row(y), step_ = uvec3(p.a[0], p.b[0], LAST_STRIDE(0)); \
	uvec2 a[4], b[4], c[4]; \
	[[unroll]] for (uint k = 0; k < 4; k++) { \
		a[k] = b[k] = c[k] = uvec2(0u); \
		if (k >= begin && k < end) { \
			uvec3 e = at + x * step_; \
			a[k] = ELEMENT(A_BITS, aSrc, e.x); \
			b[k] = ELEMENT(B_BITS, bSrc, e.y); \
			THIRD(k, e.z) \
			if (++x == n) { \
				x = 0u; \
				at = row(++y); \
			} \
		} \
	} \
	uvec2 made[4]; \
	EACH for (uint k = 0; k < 4; k++) made[k] = APPLY(k); \
	if (begin < 4u) put(i, made, begin, end); \
}
#if OPERANDS == 3
#define THIRD(k, e) c[k] = ELEMENT(C_BITS, cSrc, e);
#else
#define THIRD(k, e)
#endif
