// Four numbers of 16 bits as f32, from two words.
//
//lathe:dtypes f16 bf16
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

vec4 linked(const uvec2 r) { return WIDEN(uvec4(r.x & 0xffffu, r.x >> 16, r.y & 0xffffu, r.y >> 16)); }
void main() { any_[0] = linked(uvec2(1u, 2u)).x; }
