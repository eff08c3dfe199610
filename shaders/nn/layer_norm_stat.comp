// Means and squared deviations of rows.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 4
#include "lib/norm_stat.glsl"
