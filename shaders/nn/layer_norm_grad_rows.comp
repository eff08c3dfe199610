// What the last step of layer norm's gradient needs of each row: 1/√(variance +
// eps), in place of the number of elements, and the means of x̂·g and of g.
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 4
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // rows
	uint total; // elements of a row
	float eps;  // with epsLow, for f64
	float epsLow;
} p;

layout(set = 0, binding = 0) readonly buffer Sums { uint sums[]; };
layout(set = 0, binding = 1) buffer States { uint states[]; };

void main() {
	uint i = (flatGroup() * 64 + gl_LocalInvocationID.x) * PACK;
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		if (i + j < p.count) {
			Accumulator s;
			GET_ACCUMULATOR(s, states, (i + j) * ACCUMULATOR_WORDS);
			s.c = REAL(1) / sqrt(s.b / REAL(p.total) + (REAL(p.eps) + REAL(p.epsLow)));
			REAL a, b;
			GET_REAL(a, sums, 2 * (i + j) * REAL_WORDS);
			GET_REAL(b, sums, (2 * (i + j) + 1) * REAL_WORDS);
			s.a = a / REAL(p.total);
			s.b = b / REAL(p.total);
			PUT_ACCUMULATOR(states, (i + j) * ACCUMULATOR_WORDS, s);
		}
	}
}
