// The logarithm of what reduce_log_sum_exp_stat has added.
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 2
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/math.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // results
} p;

layout(set = 0, binding = 0) readonly buffer States { uint states[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { uint dst[]; };

void main() {
	uint i = (flatGroup() * 64 + gl_LocalInvocationID.x) * PACK;
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		if (i + j < p.count) {
			Accumulator s;
			GET_ACCUMULATOR(s, states, (i + j) * ACCUMULATOR_WORDS)
			REAL made = s.a + logReal(s.b);
			PUT_REAL(dst, (i + j) * REAL_WORDS, made);
		}
	}
}
