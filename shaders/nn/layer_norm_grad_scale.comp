// The gradient of what layer norm made before gamma and beta: dy·gamma, in the
// type of the arithmetic; the weights come as pairs of lib/affine.glsl.
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
	uint count; // elements
	uint n;     // of a row within the window
	uint base;  // where the first lies in the window
	uint pairs; // word of the first column's pair
	uint made;  // word of the first result
	uint plain; // 1: as if gamma were 1
} p;

layout(set = 0, binding = 0) readonly buffer Src { uvec4 src[]; };
layout(set = 0, binding = 1) readonly buffer Pairs { uint pairs[]; };
layout(set = 0, binding = 2) writeonly buffer Made { uint made[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i * PACK >= p.base + p.count) return;
	REAL v[PACK] = unpack(src[i]);
	[[unroll]] for (uint j = 0; j < PACK; j++) {
		uint e = i * PACK + j - p.base; // wraps around before the first
		if (e < p.count) {
			REAL g = REAL(1);
			if (p.plain == 0) GET_REAL(g, pairs, p.pairs + e % p.n * 2 * REAL_WORDS);
			PUT_REAL(made, p.made + e * REAL_WORDS, v[j] * g);
		}
	}
}
