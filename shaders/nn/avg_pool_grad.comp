// The gradient of a mean: the sum of the gradients of all windows around an element, which
// are divided by the numbers of their elements already.
#version 450
#extension GL_GOOGLE_include_directive : require
#define WIDE_IN
#include "lib/pool_gather.glsl"

REAL take(uint at, uint number) { return ELEMENT(src, at); }
