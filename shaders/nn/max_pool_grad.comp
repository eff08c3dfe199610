// The gradient of a maximum: the sum of the gradients of the windows whose largest element is
// this one. The numbers of the largest elements are given.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/pool_gather.glsl"

INPUT_WORDS(3, largest);

REAL take(uint at, uint number) { return mix(REAL(0), ELEMENT(src, at), WORD(largest, at) == number); }
