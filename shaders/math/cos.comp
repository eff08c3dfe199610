// The cosine.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/trig.glsl"

#if defined(HOST)
REAL apply(REAL x) { return cos(x); }
#else
REAL apply(REAL x) { return sinQuarters(x, 1); }
#endif
