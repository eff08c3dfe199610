// Which quad or element an operand has that comes again and again: number i / div % mod, or one of both. HALF: the quad that
// word i of two elements is in.
//
//lathe:variant half HALF
//lathe:variant both BOTH
//lathe:variant div DIV
//lathe:variant mod MOD
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/over.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(HALF)
uint linked(const uint i) { return i >> 1; }
void main() { any_[0] = linked(any_[1]); }
#elif defined(BOTH)
uint linked(const uint quad, const uint first, const uint div, const uint mod) { return rest(over(first + quad, div), mod); }
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4]); }
#else
#if defined(DIV)
uint linked(const uint quad, const uint first, const uint div) { return over(first + quad, div); }
#else
uint linked(const uint quad, const uint first, const uint mod) { return rest(first + quad, mod); }
#endif
void main() { any_[0] = linked(any_[1], any_[2], any_[3]); }
#endif
