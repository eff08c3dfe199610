// x·(bias + factor·s)^−beta, where s is a sum of squares.
//
//lathe:dtypes f32 f64
//lathe:variant *
//lathe:variant {f32}.lanes LANES
//lathe:variant {f32}.texel TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#define NUMBERS
#define THIRD
#include "lib/map.glsl"
#include "lib/power.glsl"

INPUT(0, x);
INPUT(1, sums);
OUTPUT(2, dst);

REAL response(REAL x, REAL s) {
	return x * powReal(NUMBER(p.second) + NUMBER(p.third) * s, -NUMBER(p.first));
}

#if defined(LANES)
void main() EACH_ELEMENT(p.count, dst, response(x[e], sums[e]))
#else
uvec4 packOf(uint i) {
	REAL a[PACK] = unpack(FETCH(x, i)), s[PACK] = unpack(FETCH(sums, i));
	[[unroll]] for (uint k = 0; k < PACK; k++) a[k] = response(a[k], s[k]);
	return repack(a);
}

void main() MAP(dst, p.count, packOf)
#endif
