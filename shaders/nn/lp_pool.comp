// The Lp norm of each window: the root of the sum of powers.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/pool_power.glsl"
#include "lib/power.glsl"

REAL result(Accumulator a) {
	uint root = p.power >> 4;
	return root == 1u ? a.a : powReal(a.a, REAL(1) / REAL(root));
}
