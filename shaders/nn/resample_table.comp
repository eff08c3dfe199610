// The weights with which an axis is resampled. Coordinates, distances and the reach of a filter are integers
// with parts of 2^-96 or 2^-64. So ties and weights that are 0 are the same on every device. A launch adds a
// part of the terms of each entry.
//
//lathe:dtypes f32 f64
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/high_product.glsl"
#include "lib/resample.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, index;        // entries, and the number of the first one
	uint base, pitch;         // the word of the first entry, and words of an entry
	uint slots, size;         // weights of an entry, and rows of the source
	uint low, high;           // the terms that are added
	uint kind, rounding;      // 0: nearest, 1: linear, 2: cubic; 0: prefer floor, 1: prefer ceil, 2: floor, 3: ceil
	uint flags, terms;        // see below; rows of the source on each side of a coordinate
	uint start[4], step[4];   // the coordinate of entry 0, with tau added, and from entry to entry; the lowest word first
	uint reach[3];            // of the linear filter, in rows of the source
	uint tau[2], mask[2];     // a coordinate within tau of a multiple of a half is that multiple; mask has the bits above tau
	uint coefficient[2];      // of the cubic filter, as REAL
} p;

#define EXCLUDE 1u  // Rows outside of the source have no weight.
#define CROP 2u     // Coordinates outside of the source give the fill value.
#define FLIP 4u     // Coordinates fall.

layout(set = 0, binding = 0) buffer Table { uint table[]; };

// part is a word of i·step + start. carry goes to the next word.
uint part(uint i, uint start, uint step, inout uint carry) {
	uint low = i * step, sum = start + low, all = sum + carry;
	carry = highProduct(i, step) + uint(sum < low) + uint(all < carry);
	return all;
}

// A number with 64 bits after the point: the lowest word first.
uvec3 minus(uvec3 a, uvec3 b) {
	uint x = a.x - b.x, y = a.y - b.y, borrow = uint(a.x < b.x);
	return uvec3(x, y - borrow, a.z - b.z - uint(a.y < b.y) - uint(y < borrow));
}

#if defined(F64)
#define PARTS 2.3283064365386962890625e-10LF
#else
#define PARTS 2.3283064365386962890625e-10
#endif
REAL real(uvec3 v) { return REAL(v.z) + (REAL(v.y) + REAL(v.x) * PARTS) * PARTS; }

bool zero(uvec3 v) { return int(v.z) < 0 || (v.z == 0u && (v.y & (p.mask[1] | 0x80000000u)) == 0u && (v.x & p.mask[0]) == 0u); }

// weight is the weight at distance d.
REAL weight(uvec3 d) {
	uvec3 reach = uvec3(p.reach[0], p.reach[1], p.reach[2]);
	uvec3 inner = minus(reach, d);
	if (p.kind == 1u) return zero(inner) ? REAL(0) : real(inner);
	uvec3 outer = minus(uvec3(reach.x << 1, reach.y << 1 | reach.x >> 31, reach.z << 1 | reach.y >> 31), d);
	if (zero(outer)) return REAL(0);
	REAL a, one = real(reach), v = real(outer) / one;
	GET_REAL(a, p.coefficient, 0);
	if (int(inner.z) < 0) {
		inner = minus(uvec3(0u), inner);
		return zero(inner) ? REAL(0) : a * (real(inner) / one) * v * v;
	}
	if (zero(inner)) return REAL(0);
	REAL u = real(d) / one;
	return real(inner) / one * (REAL(1) + u - (a + REAL(2)) * u * u);
}

void main() {
	uint g = flatGroup() * 64u + gl_LocalInvocationID.x;
	if (g >= p.count) return;
	uint i = p.index + g, h = p.base + g * p.pitch, carry = 0u;
	uint x0 = part(i, p.start[0], p.step[0], carry);
	uint x1 = part(i, p.start[1], p.step[1], carry);
	uint x2 = part(i, p.start[2], p.step[2], carry);
	uint x3 = part(i, p.start[3], p.step[3], carry);
	uvec3 x = uvec3(x1, x2, x3);
	if ((x2 & p.mask[1]) == 0u && (x1 & p.mask[0]) == 0u) x = uvec3(0u, x2 & 0x80000000u, x3);
	else x = minus(x, uvec3(p.tau[0], p.tau[1], 0u));
	bool whole = x.x == 0u && x.y == 0u;
	int q = int(x.z), last = int(p.size) - 1, terms = int(p.terms);
	bool outside = (p.flags & CROP) != 0u && (q < 0 || q > last || (q == last && !whole));
	if (p.kind == 0u) {
		bool half_ = x.y == 0x80000000u && x.x == 0u, over = x.y >= 0x80000000u;
		bool up = p.rounding == 0u ? over && !half_ : p.rounding == 1u ? over : p.rounding == 2u ? false : !whole;
		int row = clamp(q + int(up), 0, last);
		table[h] = uint(row) | (outside ? OUTSIDE : 0u);
		table[h + 1u] = uint((p.flags & FLIP) != 0u ? last - row : row);
		PUT_REAL(table, SUM_WORD(h), REAL(1));
		PUT_REAL(table, WEIGHT_WORD(h, 0u), REAL(1));
		return;
	}
	// All rows are on one side of a coordinate further away.
	if (q < -terms) { q = -terms; x.xy = uvec2(0u); }
	if (q > last + terms) { q = last + terms; x.xy = uvec2(0u); }
	int base = q - terms + 1, first = clamp(base, 0, int(p.size - p.slots)), from = min(base, first);
	if (p.low == 0u) {
		table[h] = uint(first) | (outside ? OUTSIDE : 0u);
		table[h + 1u] = uint((p.flags & FLIP) != 0u ? last - clamp(base, 0, last) : clamp(q + terms, 0, last));
	}
	REAL sum = REAL(0), front = REAL(0), back = REAL(0);
	for (uint u = p.low; u < p.high; u++) {
		int j = from + int(u), slot = j - first;
		uvec3 d = uvec3(x.xy, uint(q - j));
		if (j > q) d = minus(uvec3(0u), d);
		REAL w = weight(d);
		if (outside || ((p.flags & EXCLUDE) != 0u && (j < 0 || j > last))) w = REAL(0);
		sum += w;
		if (slot <= 0 || p.slots == 1u) front += w;
		else if (slot >= int(p.slots) - 1) back += w;
		else PUT_REAL(table, WEIGHT_WORD(h, uint(slot)), w);
	}
	REAL before;
	if (p.low != 0u) {
		GET_REAL(before, table, SUM_WORD(h));
		sum += before;
		GET_REAL(before, table, WEIGHT_WORD(h, 0u));
		front += before;
	}
	PUT_REAL(table, SUM_WORD(h), sum);
	PUT_REAL(table, WEIGHT_WORD(h, 0u), front);
	if (p.slots == 1u) return;
	if (p.low != 0u) {
		GET_REAL(before, table, WEIGHT_WORD(h, p.slots - 1u));
		back += before;
	}
	PUT_REAL(table, WEIGHT_WORD(h, p.slots - 1u), back);
}
