// What functions of an element share, mapped over contiguous operands: their variants,
// workgroups and parameters.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32}.lanes LANES
//lathe:variant {f32,f16,bf16}.texel TEXEL
//lathe:variant {f32,f64}.function FUNCTION
//lathe:variant {f32}.function.lanes FUNCTION LANES

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"
#if defined(LANES)
#include "lib/lanes.glsl"
#endif

// NUMBERS: the function takes two numbers too, as their bits: a double in two words, or a float in
// the first one. THIRD: it takes three.
layout(push_constant) uniform Params {
	uint count; // elements
#if defined(NUMBERS)
	uint first[2], second[2];
#endif
#if defined(THIRD)
	uint third[2];
#endif
} p;

#if defined(F64)
#define NUMBER(a) packDouble2x32(uvec2(a[0], a[1]))
#else
#define NUMBER(a) uintBitsToFloat(a[0])
#endif
