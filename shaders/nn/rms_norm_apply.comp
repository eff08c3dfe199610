// RMS norm, once the sums of squares of the rows are known.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#define AFFINE
#include "lib/apply.glsl"
#include "lib/norm.glsl"
