// The types of the functions that kernels call before they store words of two elements, as finish.comp has them for elements: from
// four words and their number, in fours, or with ONE from one. With PUT they store by themselves, of one word what is in a mask.
//
//lathe:variant packs FOUR
//lathe:variant one ONE
//lathe:variant packs.put FOUR PUT
//lathe:variant one.put ONE PUT
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(PUT)
#if defined(ONE)
void linked(const uint v, const uint at, const uint mask) { any_[at] = v & mask; }
void main() { linked(any_[1], 0u, any_[2]); }
#else
void linked(const uvec4 v, const uint pack) { any_[pack] = v.x * v.y; }
void main() { linked(uvec4(any_[1]), 0u); }
#endif
#elif defined(ONE)
uint linked(const uint v, const uint at) { return v + at; }
void main() { any_[0] = linked(any_[1], 0u); }
#else
uvec4 linked(const uvec4 v, const uint pack) { return v + pack; }
void main() { any_[0] = linked(uvec4(any_[1]), 0u).x; }
#endif
