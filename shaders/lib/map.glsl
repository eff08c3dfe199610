// What functions of an element share, mapped over contiguous operands: their variants,
// workgroups and parameters.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32}.lanes LANES
//lathe:variant {f32,f16,bf16}.texel TEXEL

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"
#if defined(LANES)
#include "lib/lanes.glsl"
#endif

// NUMBERS: the function takes two numbers too. Each is a pair of floats, whose sum is the number in
// double precision.
layout(push_constant) uniform Params {
	uint count; // elements
#if defined(NUMBERS)
	float first[2], second[2];
#endif
} p;

#if defined(F64)
#define NUMBER(a) (REAL(a[0]) + REAL(a[1]))
#else
#define NUMBER(a) a[0]
#endif
