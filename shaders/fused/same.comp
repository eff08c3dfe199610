// A number as it is: 16 bits become f32 when they are loaded.
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL float
#include "lib/packs.glsl"
#include "lib/part.glsl"

float linked(const float x) { return x; }
void main() { any_[1] = linked(any_[0]); }
