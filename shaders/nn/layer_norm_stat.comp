// Means and squared deviations of rows.
//
//lathe:variant f32.rows F32 ROWS
//lathe:variant f32.merge F32 MERGE
//lathe:variant f32.rows.texel F32 ROWS TEXEL
//lathe:variant f16.rows F16 ROWS
//lathe:variant f16.rows.texel F16 ROWS TEXEL
//lathe:variant bf16.rows BF16 ROWS
//lathe:variant bf16.rows.texel BF16 ROWS TEXEL
//lathe:variant f64.rows F64 ROWS
//lathe:variant f64.merge F64 MERGE
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 4
#define INPUTS 1
#include "lib/fold.glsl"
#include "lib/moments.glsl"
