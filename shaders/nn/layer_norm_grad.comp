// The gradient of layer norm's input, of x̂ and of g = dy·gamma in the type of the
// arithmetic: (g − mean g − x̂·mean(x̂·g))/√(variance + eps).
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 4
#define INPUTS 2
#include "lib/apply.glsl"

REAL apply(REAL x, REAL g, Accumulator s, uint r) { return (g - s.b - x * s.a) * s.c; }
