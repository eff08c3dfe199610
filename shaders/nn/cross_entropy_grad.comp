// The gradient of cross entropy: (p − 1)·dy for the target class, p·dy for others.
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INDEXED
#define INPUTS 1
#define GUARDED
#include "lib/apply.glsl"

REAL apply(REAL x, REAL y, Accumulator s, uint r) {
	return (x - (p.first + r == s.index ? REAL(1) : REAL(0))) * s.a;
}
