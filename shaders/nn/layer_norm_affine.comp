// Interleaves the weights and offsets of layer norm, 1 and 0 where there are
// none, in the type of the arithmetic.
//
//lathe:dtypes f32 f16 bf16 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // columns
	uint weights; // 1 if there are weights
	uint offsets; // 1 if there are offsets
} p;

INPUT(0, gamma);
INPUT(1, beta);
layout(set = 0, binding = 2) writeonly buffer Pairs { uint pairs[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i * PACK >= p.count) return;
	REAL g[PACK], b[PACK];
	[[unroll]] for (uint j = 0; j < PACK; j++) { g[j] = REAL(1); b[j] = REAL(0); }
	if (p.weights != 0) g = unpack(gamma[i]);
	if (p.offsets != 0) b = unpack(beta[i]);
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		uint k = i * PACK + j;
		if (k < p.count) {
			PUT_REAL(pairs, 2 * k * REAL_WORDS, g[j]);
			PUT_REAL(pairs, (2 * k + 1) * REAL_WORDS, b[j]);
		}
	}
}
