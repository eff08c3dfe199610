// What the gradient of cross entropy needs of each row: the gradient of its loss
// and its target class, as an accumulator with an index.
//
//lathe:dtypes f32 f16 bf16 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#define INDEXED
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // rows
	uint words; // of a target: 1 or 2
} p;

layout(set = 0, binding = 0) readonly buffer Grads { uvec4 grads[]; };
layout(set = 0, binding = 1) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 2) writeonly buffer States { uint states[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i * PACK >= p.count) return;
	REAL v[PACK] = unpack(grads[i]);
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		uint row = i * PACK + j;
		if (row < p.count) {
			Accumulator s = Accumulator(v[j], targets[row * p.words]);
			PUT_ACCUMULATOR(states, row * ACCUMULATOR_WORDS, s);
		}
	}
}
