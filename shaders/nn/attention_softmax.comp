// One tile of attention. For each block of keys of a row it computes the exponentials of the
// scaled and masked scores, relative to the maximum of the block. It writes that maximum and
// the sum of the exponentials too. An invocation takes one block of one row. Later steps bring
// blocks to a common maximum (online softmax). If a row is one block, the exponentials are
// divided by their sum here, and there is no later step.
//
// Without a mask no elements are read, so one texel kernel is enough for all dtypes. It is not
// a branch of the other kernel, because CPU drivers run both sides of a branch.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant * MASKED
//lathe:variant {f32}.texel TEXEL
//lathe:variant {f32,f16,bf16}.masked.texel TEXEL MASKED
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
	uint whole; // 1: a row is one block
	int seen;   // keys that the first row of a matrix sees
	uint more; // how many more keys each row sees
	uint lengths; // where the numbers of keys are in stats, or 0. With them, a row sees seen more keys than there are.
	uint lengthFirst, lengthEach, lengthStep; // the number of the first matrix, matrices of a length, elements from one to the next
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
layout(set = 0, binding = 3) buffer Stats { REAL stats[]; };

#include "lib/edge.glsl"

#if defined(F64)
#define STEP 1u
#else
#define STEP 4u
#endif

// scoresOf are STEP quads from quad i of the row on, which begins at quad row0;
// keys from limit on count as masked, whatever their scores are.
QUAD[STEP] scoresOf(uint row0, uint mask0, uint i, uint limit) {
	QUAD v[STEP];
	uint last = p.wide - 1;
	REAL scale = REAL(p.scale) + REAL(p.scaleLow);
	[[unroll]] for (uint q = 0; q < STEP; q++) v[q] = SCORES(row0 + min(i + q, last)) * scale;
#if defined(MASKED)
	if (p.masked != 0) {
		uint end = p.keys - 1, next = p.maskCol;
		[[unroll]] for (uint q = 0; q < STEP; q++) {
			[[unroll]] for (uint k = 0; k < 4; k++) {
				uint e = mask0 + min(4 * (i + q) + k, end) * next;
				v[q][k] += elementOf(FETCH(mask, e / PACK), e % PACK);
			}
		}
	}
#endif
	[[unroll]] for (uint q = 0; q < STEP; q++) {
		[[unroll]] for (uint k = 0; k < 4; k++) v[q][k] = mix(-infinity(), v[q][k], 4 * (i + q) + k < limit);
	}
	return v;
}

// below is what exponents are taken relative to: not −∞, which would make NaN of
// masked scores.
REAL below(REAL m) { return mix(m, REAL(0), m == -infinity()); }

QUAD expDown4(QUAD v) { return QUAD(expDown(v.x), expDown(v.y), expDown(v.z), expDown(v.w)); }

void main() {
	uint id = flatGroup() * WG + gl_LocalInvocationID.x, rows = p.rows;
	uint block = id / rows, row = id - block * rows, matrix = row / p.height;
	if (block >= p.blocks) return;
	uint row0 = row * p.wide, first = block * p.block, end = min(first + p.block, p.wide), inner = row - matrix * p.height;
	int seen = p.seen + int(inner * p.more);
	if (p.lengths != 0) seen += int(stats[p.lengths + (p.lengthFirst + matrix) / p.lengthEach * p.lengthStep]);
	uint limit = uint(clamp(seen, 0, int(min(4 * end, p.keys))));
	uint mask0 = p.maskBase + matrix * p.maskMatrix + inner * p.maskRow;
	REAL most = -infinity(), sum = REAL(0);
	for (uint i = first; i < end; i += STEP) {
		QUAD v[STEP] = scoresOf(row0, mask0, i, limit);
		REAL m = most;
		[[unroll]] for (uint q = 0; q < STEP; q++) [[unroll]] for (uint k = 0; k < 4; k++) m = mix(m, v[q][k], v[q][k] > m);
		REAL r = below(m);
		QUAD part = QUAD(0.0);
		[[unroll]] for (uint q = 0; q < STEP; q++) part += expDown4(v[q] - r);
		sum = sum * expDown(most - r) + ((part.x + part.y) + (part.z + part.w));
		most = m;
	}
	REAL r = below(most), scale = mix(REAL(1), REAL(1) / sum, p.whole != 0);
	scale = mix(scale, REAL(0), sum == REAL(0)); // all masked
	for (uint i = first; i < end; i += STEP) {
		QUAD v[STEP] = scoresOf(row0, mask0, i, limit);
		[[unroll]] for (uint q = 0; q < STEP; q++) {
			QUAD w = expDown4(v[q] - r) * scale;
			if (i + q < end) weights[row0 + i + q] = w;
		}
	}
	uint at = 2 * id;
	stats[at] = most;
	stats[at + 1] = sum;
}
