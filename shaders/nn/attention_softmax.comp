// One tile of attention: exponentials of the scaled and masked scores of a row's
// blocks of keys, each from the block's own maximum, with that maximum and their
// sum. An invocation takes one block of one row. Later steps bring blocks to a
// common maximum (online softmax).
//
//lathe:variant f32 F32
//lathe:variant f32.texel F32 TEXEL
//lathe:variant f16 F16
//lathe:variant f16.texel F16 TEXEL
//lathe:variant bf16 BF16
//lathe:variant bf16.texel BF16 TEXEL
//lathe:variant f64 F64
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/math.glsl"
#include "lib/grid.glsl"

#if defined(TEXEL)
#define WG 8
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows;   // of all matrices of the tile
	uint height; // rows of one of them
	uint keys;
	uint wide;   // quads of a row of scores
	uint block;  // quads of a block
	uint blocks;
	float scale;
	float scaleLow; // what scale lost by rounding to f32
	uint masked; // 1: add the mask
	uint maskBase;
	uint maskMatrix;
	uint maskRow;
	uint maskCol;
} p;

#if defined(F64)
#define QUAD dvec4
#else
#define QUAD vec4
#endif
#if defined(TEXEL)
layout(set = 0, binding = 0) uniform samplerBuffer scores;
#define SCORES(i) texelFetch(scores, int(i))
#else
layout(set = 0, binding = 0) readonly buffer Scores { QUAD scores[]; };
#define SCORES(i) scores[i]
#endif
INPUT(1, mask);
layout(set = 0, binding = 2) writeonly buffer Weights { QUAD weights[]; };
layout(set = 0, binding = 3) writeonly buffer Stats { REAL stats[]; };

#include "lib/edge.glsl"

// score is quad i of the row that begins at quad row0; keys past the end count as
// masked.
QUAD score(uint row0, uint mask0, uint i) {
	QUAD v = SCORES(row0 + i) * (REAL(p.scale) + REAL(p.scaleLow));
	if (p.masked != 0) {
		[[unroll]] for (uint k = 0; k < 4; k++) {
			uint e = mask0 + min(4 * i + k, p.keys - 1) * p.maskCol;
			v[k] += elementOf(FETCH(mask, e / PACK), e % PACK);
		}
	}
	[[unroll]] for (uint k = 0; k < 4; k++) v[k] = 4 * i + k < p.keys ? v[k] : -infinity();
	return v;
}

void main() {
	uint id = flatGroup() * WG + gl_LocalInvocationID.x;
	uint block = id / p.rows, row = id - block * p.rows, matrix = row / p.height;
	if (block >= p.blocks) return;
	uint row0 = row * p.wide, first = block * p.block, end = min(first + p.block, p.wide);
	uint mask0 = p.maskBase + matrix * p.maskMatrix + (row - matrix * p.height) * p.maskRow;
	REAL most = -infinity();
	for (uint i = first; i < end; i++) {
		QUAD v = score(row0, mask0, i);
		[[unroll]] for (uint k = 0; k < 4; k++) most = v[k] > most ? v[k] : most;
	}
	REAL from = most == -infinity() ? REAL(0) : most;
	QUAD sum = QUAD(0.0);
	for (uint i = first; i < end; i++) {
		QUAD v = score(row0, mask0, i);
		[[unroll]] for (uint k = 0; k < 4; k++) v[k] = expReal(v[k] - from);
		sum += v;
		weights[row0 + i] = v;
	}
	uint at = 2 * (block * p.rows + row);
	stats[at] = most;
	stats[at + 1] = (sum.x + sum.y) + (sum.z + sum.w);
}
