// The largest element and the sum of exponentials along an axis.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 2
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/softmax.glsl"
