// Mean and variance of each channel, or the running ones after them. A mean that is not finite has
// a variance of NaN, and then the mean is NaN on all devices.
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
	uint count; // channels
	uint total; // elements that statistics are made of
	uint running; // 1: the results are the running ones
	float momentum; // with momentumLow, for f64
	float momentumLow;
} p;

layout(set = 0, binding = 0) readonly buffer Stats { uint stats[]; };
layout(set = 0, binding = 1) readonly buffer Pairs { uint pairs[]; };
layout(set = 0, binding = 2) writeonly buffer Mean { uint mean[]; };
layout(set = 0, binding = 3) writeonly buffer Variance { uint variance[]; };

void main() {
	uint i = (flatGroup() * 64 + gl_LocalInvocationID.x) * PACK;
	REAL keep = REAL(p.momentum) + REAL(p.momentumLow), part = (REAL(1) - REAL(p.momentum)) - REAL(p.momentumLow);
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		uint k = i + j;
		if (k < p.count) {
			Accumulator s;
			GET_ACCUMULATOR(s, stats, k * ACCUMULATOR_WORDS)
			REAL b = s.b / REAL(p.total), a = mix(s.d + s.a, b, isNaN(b));
			if (p.running != 0) {
				REAL m, v;
				GET_REAL(m, pairs, 2 * k * REAL_WORDS);
				GET_REAL(v, pairs, (2 * k + 1) * REAL_WORDS);
				a = m * keep + a * part;
				b = v * keep + b * part;
			}
			PUT_REAL(mean, k * REAL_WORDS, a);
			PUT_REAL(variance, k * REAL_WORDS, b);
		}
	}
}
