// The bits of an element that a function of lib/raw.glsl has made, without those above them.
//
//lathe:variant u8 BITS=8
//lathe:variant u16 BITS=16
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uvec2
#include "lib/packs.glsl"
#include "lib/part.glsl"

uvec2 linked(const uvec2 b) { return uvec2(bitfieldExtract(b.x, 0, BITS), 0u); }
void main() { any_[1] = linked(any_[0]); }
