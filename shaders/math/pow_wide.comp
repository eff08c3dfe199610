// Powers for CPU drivers, by way of double precision.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant {f32}.texel TEXEL
//lathe:variant {f32}.repeat.texel TEXEL REPEAT
//lathe:variant {f16,bf16}.texel TEXEL LONG
//lathe:variant {f16,bf16}.repeat.texel TEXEL REPEAT LONG
//lathe:variant *.strided STRIDED
//lathe:variant {f32}.function FUNCTION
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/binary.glsl"
#include "lib/power_wide.glsl"

REAL apply(REAL a, REAL b) { return powerWide(a, b); }
