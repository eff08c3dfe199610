// Elements that are combined with those of a table, in the order of their positions. The
// elements of the table have the type of the accumulators, of which those of small integers have the low bits only. The invocations of the first pair of a
// row do the work of all its pairs.
//
// PACKED is for CPU drivers, and rows of whole packs: an invocation makes PACKS packs of a row.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 i8 u8 i16 u16 u32 u64
//lathe:variant *
//lathe:variant {f32,i32,u32}.packed PACKED

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/integers.glsl"
#include "lib/scatter.glsl"

#if defined(PACKED)
#define PACKS 4
layout(set = 0, binding = 2) uniform usamplerBuffer source;
#elif defined(SMALL)
layout(set = 0, binding = 2) readonly buffer UpdateBuffer { uint source[]; };
REAL update(uint i) { return SMALL_ELEMENT(source, i); }
#define TABLE(i) smallInt(uint(table[i]), 0u)
#elif BITS == 16
layout(set = 0, binding = 2) readonly buffer UpdateBuffer { uint source[]; };
REAL update(uint i) { return WIDEN(uvec4((source[i >> 1] >> ((i & 1u) * 16u)) & 0xffffu)).x; }
#else
layout(set = 0, binding = 2) readonly buffer UpdateBuffer { REAL source[]; };
REAL update(uint i) { return source[i]; }
#endif
#if defined(PACKED)
layout(set = 0, binding = 3) buffer TableBuffer { uvec4 table[]; };
#else
layout(set = 0, binding = 3) buffer TableBuffer { REAL table[]; };
#endif
#if !defined(TABLE)
#define TABLE(i) table[i]
#endif

// ORDERED is a word as a number with a sign, or without one.
#if defined(UNSIGNED)
#define ORDERED uint
#else
#define ORDERED int
#endif
#if defined(I64)
#include "lib/high_product.glsl"
REAL sum(REAL a, REAL b) {
	uint low = a.x + b.x;
	return uvec2(low, a.y + b.y + mix(0u, 1u, low < a.x));
}
REAL product(REAL a, REAL b) { return uvec2(a.x * b.x, highProduct(a.x, b.x) + a.x * b.y + a.y * b.x); }
bool isLess(REAL a, REAL b) {
	bool high = ORDERED(a.y) < ORDERED(b.y), low = a.x < b.x;
	return mix(high, low, a.y == b.y);
}
REAL chosen(REAL a, REAL b, bool second) { return mix(a, b, bvec2(second)); }
REAL least(REAL a, REAL b) { return chosen(a, b, isLess(b, a)); }
REAL most(REAL a, REAL b) { return chosen(a, b, isLess(a, b)); }
#else
REAL sum(REAL a, REAL b) { return a + b; }
REAL product(REAL a, REAL b) { return a * b; }
REAL chosen(REAL a, REAL b, bool second) { return mix(a, b, second); }
#if defined(I32)
REAL least(REAL a, REAL b) { return chosen(a, b, ORDERED(b) < ORDERED(a)); }
REAL most(REAL a, REAL b) { return chosen(a, b, ORDERED(a) < ORDERED(b)); }
#else
REAL orNaN(REAL a, REAL b, REAL r) { return chosen(chosen(r, b, isNaN(b)), a, isNaN(a)); }
REAL least(REAL a, REAL b) { return orNaN(a, b, chosen(a, b, b < a)); }
REAL most(REAL a, REAL b) { return orNaN(a, b, chosen(a, b, a < b)); }
#endif
#endif

// combined is what an element of the table and an update become.
REAL combined(REAL v, REAL u) {
	REAL low = chosen(sum(v, u), product(v, u), p.kind == 1u);
	return chosen(low, chosen(least(v, u), most(v, u), p.kind == 3u), p.kind >= 2u);
}

void main() {
#if defined(PACKED)
	uint packs = p.run / 4u, per = (packs + PACKS - 1u) / PACKS;
#else
	uint per = p.run;
#endif
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x, e = i / per, column = i - e * per;
	if (e >= p.count || faults[0] != 0u) return;
	uint row = pairs[p.pairBase + 2u * e];
	bool isFirst = !isHere(e - 1u, row), isOwn = isHere(e, row);
	if (row - p.first >= p.rows || !isOwn || !isFirst) return;
#if defined(PACKED)
	column *= PACKS;
	uint at = (p.tableBase + (row - p.first) * p.pitch) / 4u;
	REAL v[PACKS * 4];
	[[unroll]] for (uint u = 0u; u < PACKS; u++) {
		REAL r[4] = unpack(table[at + min(column + u, packs - 1u)]);
		[[unroll]] for (uint k = 0u; k < 4u; k++) v[4u * u + k] = r[k];
	}
	for (; isHere(e, row); e++) {
		uint from = (p.updateBase + (pairs[p.pairBase + 2u * e + 1u] - p.firstUpdate) * p.pitch) / 4u;
		[[unroll]] for (uint u = 0u; u < PACKS; u++) {
			REAL r[4] = unpack(texelFetch(source, int(from + min(column + u, packs - 1u))));
			[[unroll]] for (uint k = 0u; k < 4u; k++) v[4u * u + k] = combined(v[4u * u + k], r[k]);
		}
	}
	[[unroll]] for (uint u = 0u; u < PACKS; u++) {
		if (column + u < packs) table[at + column + u] = repack(REAL[4](v[4u * u], v[4u * u + 1u], v[4u * u + 2u], v[4u * u + 3u]));
	}
#else
	uint at = p.tableBase + (row - p.first) * p.pitch + column;
	REAL v = TABLE(at);
	for (; isHere(e, row); e++) v = combined(v, update(p.updateBase + (pairs[p.pairBase + 2u * e + 1u] - p.firstUpdate) * p.pitch + column));
	table[at] = v;
#endif
}
