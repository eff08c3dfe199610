// What layer norm makes of its input before gamma and beta, in the type of the
// arithmetic.
//
//lathe:dtypes f32 f16 bf16 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 4
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/centred.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // elements
	uint n;     // of a row within the window
	uint base;  // where the first lies in the window
	uint states; // word of the first row's accumulator
	uint made;  // word of the first result
	uint total; // elements of a row
	float eps;  // with epsLow, for f64
	float epsLow;
} p;

layout(set = 0, binding = 0) readonly buffer Src { uvec4 src[]; };
layout(set = 0, binding = 1) readonly buffer States { uint states[]; };
layout(set = 0, binding = 2) writeonly buffer Made { uint made[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i * PACK >= p.base + p.count) return;
	REAL v[PACK] = unpack(src[i]);
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		uint e = i * PACK + j - p.base; // wraps around before the first
		if (e < p.count) {
			Accumulator s;
			GET_ACCUMULATOR(s, states, p.states + e / p.n * ACCUMULATOR_WORDS);
			REAL scale = REAL(1) / sqrt(s.b / REAL(p.total) + (REAL(p.eps) + REAL(p.epsLow)));
			PUT_REAL(made, p.made + e * REAL_WORDS, centred(v[j], s) * scale);
		}
	}
}
