// Each row's logit of its target class, in the type of the arithmetic. Targets out of range
// are ignored here, because a device check reports them.
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
	uint rows;
	uint n;      // classes within the window
	uint base;   // where the first row lies in the window
	uint first;  // class it begins with
	uint words;  // of a target: 1 or 2
	uint target; // word of the first target
	uint picked; // word of the first result
} p;

layout(set = 0, binding = 0) readonly buffer Src { uvec4 src[]; };
layout(set = 0, binding = 1) readonly buffer Targets { uint targets[]; };
layout(set = 0, binding = 2) writeonly buffer Picked { uint picked[]; };

void main() {
	uint row = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (row >= p.rows) return;
	uint at = p.target + row * p.words, t = targets[at] - p.first;
	if (t >= p.n || p.words == 2 && targets[at + 1] != 0) return;
	uint e = p.base + row * p.n + t;
	REAL v[PACK] = unpack(src[e / PACK]), x = v[0];
	[[unroll]] for (uint j = 1; j < PACK; j++) x = e % PACK == j ? v[j] : x;
	PUT_REAL(picked, p.picked + row * REAL_WORDS, x);
}
