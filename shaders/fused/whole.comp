// The float that is equal to an integer below 2^24, given as its bits.
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL float
#include "lib/packs.glsl"
#include "lib/part.glsl"

float linked(const uvec2 b) { return float(int(b.x)); }
void main() { any_[1] = linked(uvec2(3u, 0u)); }
