// RMS norm of rows that begin with packs, in one launch.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#include "lib/norm_rows.glsl"
