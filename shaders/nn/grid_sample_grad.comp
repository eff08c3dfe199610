// The gradients of elements of planes: what the gradients at the points add, by the weights of lib/sample.glsl. Pairs of
// an element and of the position of one of its taps are sorted. An invocation has a pair and a channel, and that of
// the first pair of an element adds for all of them, in the order of positions.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/element.glsl"
#include "lib/sample.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, pairBase, channels;         // pairs and channels that are here; where the first pair is
	uint first, rows, sumBase, plane;       // elements of planes that are here; from plane to plane
	uint firstPoint, points, inBase, pitch; // points that are here; from channel to channel
	uint tableBase, entry, axes, kind;      // those of nn/grid_sample
} p;

layout(set = 0, binding = 0) readonly buffer PairBuffer { uint pairs[]; };
INPUT_WORDS(1, table);
INPUT_WORDS(2, src);
layout(set = 0, binding = 3) buffer Sums { uint sums[]; };

uint pointOf(uint e) { return (pairs[p.pairBase + 2u * e + 1u] >> (p.kind * p.axes)) - p.firstPoint; }

// isHere reports whether pair e is here, is for that element, and has a point that is here.
bool isHere(uint e, uint row) {
	uint k = min(e, p.count - 1u); // e may be one before the first
	return all(bvec3(e < p.count, pairs[p.pairBase + 2u * k] == row, pointOf(k) < p.points));
}

void main() {
	uint i = flatGroup() * 64u + gl_LocalInvocationID.x, c = i / p.count, e = i - c * p.count;
	if (c >= p.channels) return;
	uint row = pairs[p.pairBase + 2u * e];
	bool isFirst = !isHere(e - 1u, row), isOwn = isHere(e, row);
	if (row - p.first >= p.rows || !isOwn || !isFirst) return;
	uint at = (p.sumBase + c * p.plane + row - p.first) * REAL_WORDS, from = p.inBase + c * p.pitch;
	uint mask = (1u << p.kind) - 1u, words = p.axes * p.entry;
	REAL sum;
	GET_REAL(sum, sums, at);
	for (; isHere(e, row); e++) {
		uint point = pointOf(e), tap = pairs[p.pairBase + 2u * e + 1u], h = p.tableBase + point * words;
		REAL v = ELEMENT(src, from + point);
		// An axis that is not there has weight 1. Weights are multiplied with the element one by one, so that no
		// product of weights is too small.
		uint h1 = h + mix(0u, p.entry, p.axes > 1u), h2 = h + mix(0u, 2u * p.entry, p.axes > 2u);
		v *= weight(p.kind, tap & mask, PART(table, h));
		v *= weight(mix(0u, p.kind, p.axes > 1u), (tap >> p.kind) & mask, PART(table, h1));
		v *= weight(mix(0u, p.kind, p.axes > 2u), (tap >> (2u * p.kind)) & mask, PART(table, h2));
		sum += v;
	}
	PUT_REAL(sums, at, sum);
}
