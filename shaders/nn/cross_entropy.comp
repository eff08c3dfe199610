// The losses of rows: ln Σ e^(x − m) + (m − x of the target), neither of which is
// negative.
//
//lathe:dtypes f32 f16 bf16 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 2
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/math.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // rows
} p;

layout(set = 0, binding = 0) readonly buffer States { uint states[]; };
layout(set = 0, binding = 1) readonly buffer Picked { uint picked[]; };
OUTPUT(2, loss);
layout(set = 0, binding = 3) readonly buffer Fault { uint fault[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i * PACK >= p.count || fault[0] != 0) return;
	REAL v[PACK];
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		uint row = min(i * PACK + j, p.count - 1);
		Accumulator s;
		REAL x;
		GET_ACCUMULATOR(s, states, row * ACCUMULATOR_WORDS);
		GET_REAL(x, picked, row * REAL_WORDS);
		v[j] = s.b == REAL(0) ? infinity() : logReal(s.b) + (s.a - x); // the target's power is 0 among zeros
	}
	STORE(loss, i, repack(v), p.count - i * PACK);
}
