// The rectifier: max(x, 0), and NaN of NaN.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"

#if defined(LANES)
REAL apply(REAL x) { return mix(x, REAL(0), x <= REAL(0)); } // one comparison, and no branch
#else
REAL apply(REAL x) { return x > 0 || isNaN(x) ? x : REAL(0); }
#endif
