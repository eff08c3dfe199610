// The bits of an element of 8 bits that a function of lib/raw.glsl has made, without those above them.
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uvec2
#include "lib/packs.glsl"
#include "lib/part.glsl"

uvec2 linked(const uvec2 b) { return uvec2(b.x & 0xffu, 0u); }
void main() { any_[1] = linked(any_[0]); }
