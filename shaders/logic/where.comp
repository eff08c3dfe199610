// Takes the second element where the first one is not 0, and else the third one.
#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 3
#define A_BITS 8
#include "lib/raw_any.glsl"

uvec2 apply(uvec2 a, uvec2 b, uvec2 c) { return mix(c, b, bvec2(a.x != 0u)); }
