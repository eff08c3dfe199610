// Sums of the squares of rows.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#include "lib/norm_stat.glsl"
