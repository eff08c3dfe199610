// The accumulators for norms of rows. REALS is 4 for layer norm and 1 for RMS norm.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *.rows ROWS
//lathe:variant {f32}.rows.quad ROWS QUAD
//lathe:variant {f32}.few FEW
//lathe:variant *.rows.subgroup ROWS SUBGROUP
//lathe:variant {f32,f64}.merge MERGE
//lathe:variant {f32,f16,bf16}.rows.texel ROWS TEXEL

#define INPUTS 1
#include "lib/reduce.glsl"
#if REALS == 4
#include "lib/moments.glsl"
#else
#include "lib/squares.glsl"
#endif
