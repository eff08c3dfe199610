// The Gaussian error linear unit itself, x·Φ(x). Φ(−|x|) = ½·erfc(|x|/√2) is made without 1 − erf where
// that would lose its digits.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"
#include "lib/gelu_erf.glsl"

REAL apply(REAL x) { return geluErf(x); }
