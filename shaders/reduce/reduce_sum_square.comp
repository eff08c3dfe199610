// Sums of squares along an axis. Integers wrap.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 i8 i16
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/squares.glsl"
