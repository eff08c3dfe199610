// Differences.
//
//lathe:dtypes f32 f16 bf16 i32 i64 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/binary.glsl"

REAL apply(REAL a, REAL b) { return subReal(a, b); }
