// Means and squared deviations of columns, the channels of tensors [N,C].
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *.cols COLS
//lathe:variant {f32}.cols.lanes COLS LANES
//lathe:variant *.odd COLS ODD
//lathe:variant {f32,f64}.merge MERGE
//lathe:variant {f32}.merge.lanes MERGE LANES
//lathe:variant {f32,f16,bf16}.cols.texel COLS TEXEL
//lathe:variant {f32,f16,bf16}.odd.texel COLS ODD TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 4
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/moments.glsl"
