// Places in a tensor, between elements. An entry is a word with the row at a coordinate or before it, or
// NOWHERE, and a word with the rest of the coordinate in 2^-24 of a row. With elements of 64 bits there is a
// third word, with 28 bits more. lib/element.glsl comes first.

#define NOWHERE 0x80000000u
#define PART_BITS 24
#define FINE_BITS 28

// PART is the rest of the coordinate of the entry at word i of a table, exactly.
// FLOAT_BITS takes the number at element i of an input apart: its magnitude is m·2^(shift − 56), where bit TOP is the
// highest one of m. special is 1 for an infinity and 2 for NaN. ROUNDING is half of the last bit of a coordinate, in
// 2^-57, and FINE has the bits after the first 24.
#if defined(F64)
#define PART(table, i) ((REAL(WORD(table, (i) + 1u)) * 268435456.0LF + REAL(WORD(table, (i) + 2u))) * 2.220446049250313080847263336181640625e-16LF)
#define TOP 52
#define FLOAT_BITS(name, i, m, shift, negative, special) { \
	uint low_ = WORD(name, 2u * (i)), high_ = WORD(name, 2u * (i) + 1u), e_ = (high_ >> 20) & 0x7ffu; \
	m = uvec2(low_, (high_ & 0xfffffu) | mix(0x100000u, 0u, e_ == 0u)); \
	shift = int(e_) - 1019; \
	negative = (high_ >> 31) != 0u; \
	special = mix(0u, mix(2u, 1u, (high_ & 0xfffffu | low_) == 0u), e_ == 0x7ffu); \
}
#define ROUNDING uvec2(16u, 0u)
#define FINE(low, high) (((high) & 1u) << 27 | (low) >> 5)
#else
#define PART(table, i) (REAL(WORD(table, (i) + 1u)) * 5.9604644775390625e-8)
#define TOP 23
#define FLOAT_BITS(name, i, m, shift, negative, special) { \
	uint bits_ = floatBitsToUint(ELEMENT(name, i)), e_ = (bits_ >> 23) & 0xffu; \
	m = uvec2((bits_ & 0x7fffffu) | mix(0x800000u, 0u, e_ == 0u), 0u); \
	shift = int(e_) - 94; \
	negative = (bits_ >> 31) != 0u; \
	special = mix(0u, mix(2u, 1u, (bits_ & 0x7fffffu) == 0u), e_ == 0xffu); \
}
#define ROUNDING uvec2(0u, 1u)
#define FINE(low, high) 0u
#endif

// weight is the weight of tap k, where the coordinate is f rows after tap 0, or tap 1 of a cubic filter.
REAL weight(uint kind, uint k, REAL f) {
	REAL line = mix(REAL(1) - f, f, k == 1u);
	REAL near = mix(f, REAL(1) - f, k > 1u), rest = REAL(1) - near;
	REAL inner = rest * (REAL(1) + near - REAL(1.25) * near * near), outer = REAL(-0.75) * near * rest * rest;
	REAL curve = mix(outer, inner, k == 1u || k == 2u);
	return mix(mix(curve, line, kind == 1u), REAL(1), kind == 0u);
}

// element is the row that stands for row i of an axis of n rows, or for one far outside, the nearest one.
int element(int i, int last, bool mirror, int twice) {
	i = mix(i, -i - twice, all(bvec2(mirror, i < 0)));
	i = mix(i, 2 * last + twice - i, all(bvec2(mirror, i > last)));
	i = mix(i, -i - twice, all(bvec2(mirror, i < 0)));
	return clamp(i, 0, last);
}
