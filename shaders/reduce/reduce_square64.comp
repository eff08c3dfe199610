// Sums of 64 bits of the squares of smaller integers along an axis. They wrap.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/sum64.glsl"
#include "lib/squares.glsl"
