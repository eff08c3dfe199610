// Which quad or element an operand has that comes again and again: number i / div % mod.
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/packs.glsl"
#include "lib/part.glsl"

uint linked(const uint quad, const uint first, const uint div, const uint mod) { return (first + quad) / div % mod; }
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4]); }
