// Powers.
//
//lathe:variant f32 F32
//lathe:variant f32.strided F32 STRIDED
//lathe:variant f32.texel F32 TEXEL
//lathe:variant f32.repeat.texel F32 TEXEL REPEAT
//lathe:variant f16 F16
//lathe:variant f16.strided F16 STRIDED
//lathe:variant f16.texel F16 TEXEL
//lathe:variant f16.repeat.texel F16 TEXEL REPEAT
//lathe:variant bf16 BF16
//lathe:variant bf16.strided BF16 STRIDED
//lathe:variant bf16.texel BF16 TEXEL
//lathe:variant bf16.repeat.texel BF16 TEXEL REPEAT
//lathe:variant f64 F64
//lathe:variant f64.strided F64 STRIDED

#version 450
#extension GL_GOOGLE_include_directive : require
#define HEAVY
#include "lib/binary.glsl"
#include "lib/power.glsl"

REAL apply(REAL a, REAL b) { return powReal(a, b); }

