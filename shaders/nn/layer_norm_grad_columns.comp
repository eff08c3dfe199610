// Writes the sums of x̂·dy and of dy of each column to two tensors.
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 2
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // columns
} p;

layout(set = 0, binding = 0) readonly buffer Sums { uint sums[]; };
layout(set = 0, binding = 1) writeonly buffer Gamma { uint gamma[]; };
layout(set = 0, binding = 2) writeonly buffer Beta { uint beta[]; };

void main() {
	uint i = (flatGroup() * 64 + gl_LocalInvocationID.x) * PACK;
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		if (i + j < p.count) {
			Accumulator s;
			GET_ACCUMULATOR(s, sums, (i + j) * ACCUMULATOR_WORDS);
			PUT_REAL(gamma, (i + j) * REAL_WORDS, s.a);
			PUT_REAL(beta, (i + j) * REAL_WORDS, s.b);
		}
	}
}
