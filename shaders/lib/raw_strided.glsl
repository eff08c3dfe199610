// The form of lib/raw.glsl for any strides, 0 where an operand is broadcast. The output is contiguous
// and may begin anywhere in four elements. No two invocations write to one word.

#include "lib/over.glsl"

layout(push_constant) uniform Params {
#if OPERANDS == 3
	// Sizes and strides in elements, innermost first. If there are several dimensions, the last place has the outermost one.
	uint n[6], a[6], b[6], c[6];
	uint rank, count;            // 1 and the dimensions between those two, and elements
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
#define THIRD_STRIDE(d) p.c[d]
#define OUTERMOST 5
#else
#define THIRD_STRIDE(d) 0u
#define OUTERMOST 7
#endif

// Elements follow each other along dimension 0, and then in the next row. There are no branches, because CPU drivers run both sides.
// Invocations beside the output read what its first or last pack does, and write nothing.
#define STRIDED_MAP { \
	uint at = flatGroup() * WG + gl_LocalInvocationID.x, base = p.base[OPERANDS], i = clamp(at, base / 4u, (base + p.count - 1u) / 4u); \
	uint begin = min(max(base, i * 4u) - i * 4u, 4u), end = min(base + p.count - i * 4u, 4u); \
	uint n = p.n[0], first = i * 4u + begin - base, row = over(first, n), x = first - row * n; \
	uvec4 from[3], rows; \
	[[unroll]] for (uint k = 0; k < 4; k++) { \
		from[0][k] = p.base[0] + x * p.a[0]; \
		from[1][k] = p.base[1] + x * p.b[0]; \
		from[2][k] = (OPERANDS == 3 ? p.base[2] : 0u) + x * THIRD_STRIDE(0); \
		rows[k] = row; \
		x += mix(0u, 1u, k >= begin && k + 1u < end); \
		bool next = x == n; \
		x = mix(x, 0u, next); \
		row += mix(0u, 1u, next); \
	} \
	[[dont_unroll]] for (uint d = 1; d < p.rank; d++) { \
		uvec4 q = over(rows, p.n[d]), y = rows - q * p.n[d]; \
		from[0] += y * p.a[d]; \
		from[1] += y * p.b[d]; \
		from[2] += y * THIRD_STRIDE(d); \
		rows = q; \
	} \
	from[0] += rows * p.a[OUTERMOST]; \
	from[1] += rows * p.b[OUTERMOST]; \
	from[2] += rows * THIRD_STRIDE(OUTERMOST); \
	uvec2 a[4], b[4], c[4], made[4]; \
	[[unroll]] for (uint k = 0; k < 4; k++) { \
		a[k] = ELEMENT(A_BITS, aSrc, from[0][k]); \
		b[k] = ELEMENT(B_BITS, bSrc, from[1][k]); \
		THIRD(k, from[2][k]) \
	} \
	EACH for (uint k = 0; k < 4; k++) made[k] = APPLY(k); \
	put(i, made, mix(4u, begin, at == i), mix(4u, end, at == i)); \
}
#if OPERANDS == 3
#define THIRD(k, e) c[k] = ELEMENT(C_BITS, cSrc, e);
#else
#define THIRD(k, e)
#endif
