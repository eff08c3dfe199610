// The element of invocation at's number k, or the last one: a workgroup's invocations make elements side by side, and
// then those of the next workgroup's length.
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/packs.glsl"
#include "lib/part.glsl"

uint linked(const uint at, const uint count, const uint k) { return min(at + k * WG, count - 1); }
void main() { any_[0] = linked(any_[1], any_[2], any_[3]); }
