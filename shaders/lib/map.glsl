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

layout(push_constant) uniform Params {
	uint count; // elements
} p;
