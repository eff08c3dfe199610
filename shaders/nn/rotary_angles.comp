// The cosines and sines of positions: row p of the table has those of position p, alternately. A position that is out of
// range counts as the last one: another kernel has looked for such.
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count;       // pairs of all positions
	uint pairs, most; // pairs of a position, and positions of the caches
	uint base, words; // word of the first position, and words of each
} p;

layout(set = 0, binding = 0) readonly buffer Positions { uint positions[]; };
layout(set = 0, binding = 1) readonly buffer Cos { REAL cosines[]; };
layout(set = 0, binding = 2) readonly buffer Sin { REAL sines[]; };
layout(set = 0, binding = 3) writeonly buffer Table { REAL table[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint row = i / p.pairs, k = i - row * p.pairs, from = min(positions[p.base + row * p.words], p.most - 1u) * p.pairs + k;
	table[2u * i] = cosines[from];
	table[2u * i + 1u] = sines[from];
}
