// Rounds a number of f32 to a type of 16 bits.
//
//lathe:dtypes f16 bf16
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

REAL linked(const REAL x) { return WIDEN(NARROW(vec4(x))).x; }
void main() { any_[1] = linked(any_[0]); }
