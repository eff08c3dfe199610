// The types of the functions that kernels call before they store words of two elements, as finish.comp has them for elements: from
// four words and their number, in fours, or with ONE from one.
//
//lathe:variant packs FOUR
//lathe:variant one ONE
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(ONE)
uint linked(const uint v, const uint at) { return v + at; }
void main() { any_[0] = linked(any_[1], 0u); }
#else
uvec4 linked(const uvec4 v, const uint pack) { return v + pack; }
void main() { any_[0] = linked(uvec4(any_[1]), 0u).x; }
#endif
