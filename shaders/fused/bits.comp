// The bits of an element, from the lowest on, as functions of lib/raw.glsl take them.
//
//lathe:dtypes f32 f16 bf16 f64 i32
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(F64)
uvec2 linked(const REAL x) { return unpackDouble2x32(x); }
#elif BITS == 16
uvec2 linked(const REAL x) { return uvec2(NARROW(vec4(x)).x, 0u); }
#elif defined(F32)
uvec2 linked(const REAL x) { return uvec2(floatBitsToUint(x), 0u); }
#else
uvec2 linked(const REAL x) { return uvec2(uint(x), 0u); }
#endif
void main() { uvec2 v = linked(any_[0]); any_[v.x] = REAL(v.y); }
