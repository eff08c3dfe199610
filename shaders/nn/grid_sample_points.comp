// The entries of lib/sample.glsl for a grid of coordinates from -1 to 1. All is integers, so that ties are the
// same on every device: numbers of the grid have 56 bits after the point, and their products with sizes are
// exact. Numbers of 8 or more in magnitude lie outside of every tensor, as 8 does.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/element.glsl"
#include "lib/high_product.glsl"
#include "lib/sample.glsl"

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count, inBase;  // numbers, and the first one
	uint outBase;        // the word of the first entry
	uint axes, entry;    // numbers of a point, and words of an entry
	uint factor[3];      // of each number: the size of its axis, or one less with align_corners
	uint last[3];        // the last row of each axis
	uint kind, padding;  // 0: nearest, 1: linear, 2: cubic; 0: zeros, 1: border, 2: reflection
	uint offset;         // what is subtracted from the coordinate, in 2^-25
} p;

INPUT_WORDS(0, src);
layout(set = 0, binding = 1) writeonly buffer Table { uint table[]; };

// Numbers of 64 bits, the lower word first. shifted is v·2^n without the bits past both ends.
uvec2 shifted(uvec2 v, int n) {
	uint left = uint(clamp(n, 0, 63)), right = uint(clamp(-n, 0, 63)), l = left & 31u, r = right & 31u;
	// A shift by 32 is a shift by 31 and then by 1.
	uvec2 up = uvec2(v.x << l, v.y << l | (v.x >> 1) >> (31u - l)), down = uvec2(v.x >> r | (v.y << 1) << (31u - r), v.y >> r);
	up = mix(up, uvec2(0u, up.x), bvec2(left > 31u));
	down = mix(down, uvec2(down.y, 0u), bvec2(right > 31u));
	return mix(mix(up, down, bvec2(n < 0)), uvec2(0u), bvec2(n > 63 || n < -63));
}

uvec2 minus(uvec2 a, uvec2 b) { return uvec2(a.x - b.x, a.y - b.y - uint(a.x < b.x)); }

// over says that v, which is not negative, is more than 2.
bool over(uvec2 v) { return v.y > 0x2000000u || (v.y == 0x2000000u && v.x != 0u); }

void main() {
	uint e = flatGroup() * WG + gl_LocalInvocationID.x;
	if (e >= p.count) return;
	uint point = e / p.axes, c = e - point * p.axes, special;
	bool mirror = p.padding == 2u, between = p.kind != 0u, negative;
	uvec2 m;
	int shift;
	FLOAT_BITS(src, p.inBase + e, m, shift, negative, special)
	// v is the number of the grid, and then its distance from -1. A reflection repeats after 4.
	uvec2 v = shifted(m, shift);
	if (mirror) v.y &= 0x3ffffffu;
	else if (TOP + shift >= 59) v = uvec2(0u, 0x8000000u);
	if (negative) v = minus(uvec2(0u), v);
	v.y += 0x1000000u;
	if (mirror) v.y &= 0x3ffffffu;
	if (mirror && between && over(v)) v = minus(uvec2(0u, 0x4000000u), v);
	bool before = int(v.y) < 0, after = !before && over(v);
	// The coordinate x has 57 bits after the point.
	uint n = p.factor[c], x0 = v.x * n, x1 = highProduct(v.x, n), middle = v.y * n;
	uint x2 = highProduct(v.y, n) - mix(0u, n, before);
	x1 += middle;
	x2 += uint(x1 < middle);
	uvec2 rounding = ROUNDING;
	x0 += rounding.x;
	uint carry = rounding.y + uint(x0 < rounding.x);
	x1 += carry;
	x2 += uint(x1 < carry);
	x2 -= uint(x1 < p.offset);
	x1 -= p.offset;
	int row = int(x2 << 7 | x1 >> 25);
	uint part = (x1 >> 1) & 0xffffffu, fine = FINE(x0, x1);
	if (!between) {
		bool tie = part == 0x800000u && fine == 0u;
		row += int((part >= 0x800000u && !tie) || (tie && (row & 1) != 0));
		part = 0u;
		fine = 0u;
	}
	if (p.padding == 1u && between && (before || after)) {
		row = before ? 0 : int(p.last[c]);
		part = 0u;
		fine = 0u;
	}
	uint at = p.outBase + e * p.entry;
	table[at] = special == 2u || (special == 1u && mirror) ? NOWHERE : uint(row);
	table[at + 1u] = part;
	if (p.entry > 2u) table[at + 2u] = fine;
}
