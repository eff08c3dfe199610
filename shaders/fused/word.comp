// A word of the launch.
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/fused.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

uint linked(const uint k) { return p.words[k]; }
void main() { any_[0] = linked(any_[1]); }
