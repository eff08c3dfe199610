// Attention of few queries, as in a step of a decoder. A workgroup takes a query and a range of keys. It computes the scores of those keys that the query
// sees, and their exponentials relative to the largest one. It writes the sum of the values with these weights, the largest score and the sum of the
// weights, which attention_few_merge joins. A range of which nothing is seen costs nothing, and its keys are not read.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/math.glsl"
#include "lib/grid.glsl"
#include "lib/attention_few.glsl"

#define WG 64
#define CHUNK 256
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows;   // of this launch
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

shared REAL weights[CHUNK];
shared REAL most[WG];
shared REAL sums[WG][PACK + 1];

#include "lib/attention_few_steps.glsl"

void main() {
	uint group = flatGroup(), lane = gl_LocalInvocationID.x, range = group / p.rows, row = group - range * p.rows, from = range * p.chunk;
	uint matrix = row / p.height, i = row - matrix * p.height, outer = matrix / p.inner, inner = matrix - outer * p.inner;
	uint to = p.first + outer * p.outerRows + inner * p.height + i;
	if (from >= p.keys) return;
	uint seen = seenBy(to / p.height, i, p.height, p.keys, p.flags, p.lengthBase, p.lengthEach);
	if (from >= seen) return;
	uint count = min(seen - from, p.chunk);
	uint q0 = p.qBase + outer * p.qOuter + inner * p.qInner + i * p.qRow;
	uint k0 = p.kBase + outer * p.kOuter + inner * p.kInner + from * p.kRow;
	uint v0 = p.vBase + outer * p.vOuter + inner * p.vInner + from * p.vRow;
	uint masked = (p.flags & FLAG_MASK_COLUMNS) != 0u ? 1u : 0u, m0 = p.maskBase + outer * p.maskOuter + inner * p.maskInner + i * p.maskRow + from * masked;

	REAL scale = REAL(p.scale) + REAL(p.scaleLow), top = -infinity();
	bool packed = ((q0 | k0 | p.kRow | p.depth) % PACK) == 0u;
	uint key = lane, kRow = p.kRow, depth = p.depth, flags = p.flags; // CPU drivers gather parameters anew wherever they stand
	if (packed) {
		uint qi = q0 / PACK;
		for (; key + 3u * WG < count; key += 4u * WG) SCORES(4)
		for (; key < count; key += WG) SCORES(1)
	}
	for (; key < count; key += WG) {
		REAL s = REAL(0);
		for (uint d = 0; d < depth; d++) s = fma(OF(q, q0 + d), OF(k, k0 + key * kRow + d), s);
		KEEP(s, key)
	}
	most[lane] = top;
	barrier();
	if (lane < 8u) {
		[[unroll]] for (uint j = 1; j < 8; j++) top = larger(top, most[lane + 8u * j]);
		most[lane] = top;
	}
	barrier();
	[[unroll]] for (uint j = 0; j < 8; j++) top = larger(top, most[j]);
	REAL below = mix(top, REAL(0), top == -infinity()); // −∞ would make NaN of masked scores
	for (key = lane; key < count; key += WG) weights[key] = expDown(weights[key] - below);
	barrier();

	// Neighbours take neighbouring packs of columns, and slices of invocations share the keys.
	uint packs = (p.width + PACK - 1u) / PACK, slices = WG / packs, slice = lane / packs, column = (lane - slice * packs) * PACK, last = p.width - 1u, vRow = p.vRow;
	REAL sum[PACK], total = REAL(0);
	[[unroll]] for (uint e = 0; e < PACK; e++) sum[e] = REAL(0);
	uint begin = slice < slices ? slice : count;
	if (((v0 | p.vRow | p.width) % PACK) == 0u) {
		uint vi = (v0 + begin * vRow + column) / PACK, far = slices * vRow / PACK;
		key = begin;
		for (; key + 3u * slices < count; key += 4u * slices, vi += 4u * far) VALUES(4)
		for (; key < count; key += slices, vi += far) VALUES(1)
	} else {
		for (uint key = begin; key < count; key += slices) {
			REAL w = weights[key];
			uint at = v0 + key * vRow;
			total += w;
			[[unroll]] for (uint e = 0; e < PACK; e++) sum[e] = fma(w, OF(v, at + min(column + e, last)), sum[e]);
		}
	}
	[[unroll]] for (uint e = 0; e < PACK; e++) sums[lane][e] = sum[e];
	sums[lane][PACK] = total;
	barrier();
	if (lane >= packs) return;
	for (uint j = 1; j < slices; j++) {
		[[unroll]] for (uint e = 0; e < PACK; e++) sum[e] += sums[lane + j * packs][e];
		total += sums[lane + j * packs][PACK];
	}
	uint at = range * p.allRows + to;
	[[unroll]] for (uint e = 0; e < PACK; e++) parts[at * packs * PACK + column + e] = sum[e];
	if (lane == 0u) {
		at = ((p.keys + p.chunk - 1u) / p.chunk) * p.allRows * packs * PACK + 2u * at;
		parts[at] = top;
		parts[at + 1u] = total;
	}
}
