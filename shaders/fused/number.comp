// A number of a call, given as its bits: a double in two words, or a float in the first one.
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(F64)
REAL linked(const uint low, const uint high) { return packDouble2x32(uvec2(low, high)); }
#else
REAL linked(const uint low, const uint high) { return uintBitsToFloat(low); }
#endif
void main() { any_[0] = linked(1u, 2u); }
