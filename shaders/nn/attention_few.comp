// Attention of few queries, as in a step of a decoder. A workgroup takes a query and a range of keys. It computes the scores of those keys that the query
// sees, and their exponentials relative to the largest one. It writes the sum of the values with these weights, the largest score and the sum of the
// weights, which attention_few_merge joins. A range of which nothing is seen costs nothing, and its keys are not read. SHARED takes the same query of
// up to four matrices that have their keys and values in common, which are read once for all of them.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL
//lathe:variant {f32,f16,bf16}.texel.shared TEXEL SHARED
//lathe:variant {f32,f16,bf16}.shared SHARED
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/math.glsl"
#include "lib/grid.glsl"
#include "lib/attention_few.glsl"

#define WG 64
#define CHUNK 256
#ifdef SHARED
#define HEADS 4
#else
#define HEADS 1
#endif
#define EACH_HEAD [[unroll]] for (uint h = 0; h < HEADS; h++)
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows;   // of this launch, one for up to HEADS matrices
	uint height; // queries of a matrix
	uint inner;  // matrices of an outer index
	uint keys, chunk, depth, width; // keys, those of a workgroup, elements of a key and of a value
	uint flags;
	float scale, scaleLow; // and what scale lost by rounding to f32
	uint lengthBase, lengthEach; // word of the first number of keys, and how many matrices have one
	uint first, outerRows, allRows; // row of the results, rows from outer index to outer index, and of all results
	uint qBase, qOuter, qInner, qRow;
	uint kBase, kOuter, kInner, kRow;
	uint vBase, vOuter, vInner, vRow;
	uint maskBase, maskOuter, maskInner, maskRow;
} p;

INPUT(1, q);
INPUT(2, k);
INPUT(3, v);
INPUT(4, mask);
// Products of each range and row, in whole packs, then the largest score and the sum of weights of each.
layout(set = 0, binding = 5) writeonly buffer Parts { REAL parts[]; };

shared REAL weights[HEADS][CHUNK];
shared REAL most[HEADS][WG];
shared REAL sums[HEADS][WG][PACK + 1];

#include "lib/attention_few_steps.glsl"

void main() {
	uint group = flatGroup(), lane = gl_LocalInvocationID.x, range = group / p.rows, row = group - range * p.rows, from = range * p.chunk;
	uint teams = (p.inner + HEADS - 1u) / HEADS, team = row / p.height, i = row - team * p.height, outer = team / teams, inner = (team - outer * teams) * HEADS;
	uint to = p.first + outer * p.outerRows + inner * p.height + i;
	if (from >= p.keys) return;
	uint seen = seenBy(to / p.height, i, p.height, p.keys, p.flags, p.lengthBase, p.lengthEach);
	if (from >= seen) return;
	uint count = min(seen - from, p.chunk);
	uint k0 = p.kBase + outer * p.kOuter + inner * p.kInner + from * p.kRow;
	uint v0 = p.vBase + outer * p.vOuter + inner * p.vInner + from * p.vRow;
	uint masked = (p.flags & FLAG_MASK_COLUMNS) != 0u ? 1u : 0u, q0[HEADS], m0[HEADS];
	EACH_HEAD {
		uint head = min(inner + h, p.inner - 1u); // What is more than there are is computed again, and not written.
		q0[h] = p.qBase + outer * p.qOuter + head * p.qInner + i * p.qRow;
		m0[h] = p.maskBase + outer * p.maskOuter + head * p.maskInner + i * p.maskRow + from * masked;
	}

	REAL scale = REAL(p.scale) + REAL(p.scaleLow), top[HEADS];
	uint key = lane, kRow = p.kRow, depth = p.depth, flags = p.flags, ends = k0 | kRow | depth; // CPU drivers gather parameters anew wherever they stand
	EACH_HEAD { top[h] = -infinity(); ends |= q0[h]; }
	if (ends % PACK == 0u) {
		uint qi[HEADS];
		EACH_HEAD qi[h] = q0[h] / PACK;
		for (; key + 3u * WG < count; key += 4u * WG) SCORES(4)
		for (; key < count; key += WG) SCORES(1)
	}
	for (; key < count; key += WG) {
		REAL s[HEADS];
		EACH_HEAD s[h] = REAL(0);
		for (uint d = 0; d < depth; d++) {
			REAL x = OF(k, k0 + key * kRow + d);
			EACH_HEAD s[h] = fma(OF(q, q0[h] + d), x, s[h]);
		}
		EACH_HEAD KEEP(s[h], key)
	}
	EACH_HEAD most[h][lane] = top[h];
	barrier();
	if (lane < 8u * HEADS) {
		uint h = lane / 8u, at = lane % 8u;
		REAL above = most[h][at];
		[[unroll]] for (uint j = 1; j < 8; j++) above = larger(above, most[h][at + 8u * j]);
		most[h][at] = above;
	}
	barrier();
	EACH_HEAD {
		top[h] = most[h][0];
		[[unroll]] for (uint j = 1; j < 8; j++) top[h] = larger(top[h], most[h][j]);
		REAL below = mix(top[h], REAL(0), top[h] == -infinity()); // −∞ would make NaN of masked scores
		for (key = lane; key < count; key += WG) weights[h][key] = expDown(weights[h][key] - below);
	}
	barrier();

	// Neighbours take neighbouring packs of columns, and slices of invocations share the keys.
	uint packs = (p.width + PACK - 1u) / PACK, slices = WG / packs, slice = lane / packs, column = (lane - slice * packs) * PACK, last = p.width - 1u, vRow = p.vRow;
	REAL sum[HEADS][PACK], total[HEADS];
	EACH_HEAD {
		total[h] = REAL(0);
		[[unroll]] for (uint e = 0; e < PACK; e++) sum[h][e] = REAL(0);
	}
	uint begin = slice < slices ? slice : count;
	if (((v0 | p.vRow | p.width) % PACK) == 0u) {
		uint vi = (v0 + begin * vRow + column) / PACK, far = slices * vRow / PACK;
		key = begin;
		for (; key + 3u * slices < count; key += 4u * slices, vi += 4u * far) VALUES(4)
		for (; key < count; key += slices, vi += far) VALUES(1)
	} else {
		for (uint key = begin; key < count; key += slices) {
			uint at = v0 + key * vRow;
			REAL y[PACK];
			[[unroll]] for (uint e = 0; e < PACK; e++) y[e] = OF(v, at + min(column + e, last));
			EACH_HEAD ADD(weights[h][key])
		}
	}
	EACH_HEAD {
		[[unroll]] for (uint e = 0; e < PACK; e++) sums[h][lane][e] = sum[h][e];
		sums[h][lane][PACK] = total[h];
	}
	barrier();
	// Each head has its own invocations, if there are enough.
	for (uint j = lane; j < packs * HEADS; j += WG) {
		uint h = j / packs, c = j - h * packs, part = range * p.allRows + to + h * p.height, stats = ((p.keys + p.chunk - 1u) / p.chunk) * p.allRows * packs * PACK + 2u * part;
		if (inner + h >= p.inner) break;
		REAL all[PACK + 1];
		[[unroll]] for (uint e = 0; e <= PACK; e++) all[e] = sums[h][c][e];
		for (uint s = 1; s < slices; s++) [[unroll]] for (uint e = 0; e <= PACK; e++) all[e] += sums[h][c + s * packs][e];
		[[unroll]] for (uint e = 0; e < PACK; e++) parts[(part * packs + c) * PACK + e] = all[e];
		if (c == 0u) {
			REAL above = most[h][0];
			[[unroll]] for (uint j = 1; j < 8; j++) above = larger(above, most[h][j]);
			parts[stats] = above;
			parts[stats + 1u] = all[PACK];
		}
	}
}
