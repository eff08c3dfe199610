// The element that has these bits, which a function of lib/raw.glsl gives.
//
//lathe:dtypes f32 f16 bf16 f64 i32
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(F64)
REAL linked(const uvec2 b) { return packDouble2x32(b); }
#elif BITS == 16
REAL linked(const uvec2 b) { return WIDEN(uvec4(b.x)).x; }
#elif defined(F32)
REAL linked(const uvec2 b) { return uintBitsToFloat(b.x); }
#else
REAL linked(const uvec2 b) { return int(b.x); }
#endif
void main() { any_[0] = linked(uvec2(1u, 2u)); }
