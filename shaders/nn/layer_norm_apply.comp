// Layer norm, once means and squared deviations of the rows are known.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 4
#define INPUTS 1
#define AFFINE
#include "lib/apply.glsl"
#include "lib/norm.glsl"
