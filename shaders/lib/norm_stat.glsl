// The states of norms of rows: by REALS those of layer norm, 4, or of RMS norm, 1.
//
//lathe:variant f32.rows F32 ROWS
//lathe:variant f32.rows.subgroup F32 ROWS SUBGROUP
//lathe:variant f32.merge F32 MERGE
//lathe:variant f32.rows.texel F32 ROWS TEXEL
//lathe:variant f16.rows F16 ROWS
//lathe:variant f16.rows.subgroup F16 ROWS SUBGROUP
//lathe:variant f16.rows.texel F16 ROWS TEXEL
//lathe:variant bf16.rows BF16 ROWS
//lathe:variant bf16.rows.subgroup BF16 ROWS SUBGROUP
//lathe:variant bf16.rows.texel BF16 ROWS TEXEL
//lathe:variant f64.rows F64 ROWS
//lathe:variant f64.rows.subgroup F64 ROWS SUBGROUP
//lathe:variant f64.merge F64 MERGE

#define INPUTS 1
#include "lib/fold.glsl"
#if REALS == 4
#include "lib/moments.glsl"
#else
#include "lib/squares.glsl"
#endif
