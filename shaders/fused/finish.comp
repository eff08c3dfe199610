// The types of the functions that kernels call before they store elements: from four elements and their number, in fours, to
// those that are stored, or with LANES from one. With PUT they store by themselves. The function is written anew.
//
//lathe:variant quads QUADS
//lathe:variant lanes LANES
//lathe:variant quads.put QUADS PUT
//lathe:variant lanes.put LANES PUT
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL float
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(PUT)
#if defined(LANES)
void linked(const REAL v, const uint at) { any_[at] = v; }
void main() { linked(any_[1], 0u); }
#else
void linked(const vec4 v, const uint quad) { any_[quad] = v.x * v.y; }
void main() { linked(vec4(any_[1]), 0u); }
#endif
#elif defined(LANES)
REAL linked(const REAL v, const uint at) { return v + float(at); }
void main() { any_[0] = linked(any_[1], 0u); }
#else
vec4 linked(const vec4 v, const uint quad) { return v + float(quad); }
void main() { any_[0] = linked(vec4(any_[1]), 0u).x; }
#endif
