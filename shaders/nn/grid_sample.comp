// Elements at the points of a table that nn/grid_sample_points makes. The tensors are [images, channels, n, n, n]
// and [images, channels, points]. An element of weight 0 does not count, whatever it is. A launch makes a part of
// the output that is contiguous, from some elements of each plane. Where there are others, an accumulator carries
// the sum from a launch to the next.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/element.glsl"
#include "lib/sample.glsl"

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count, outBase;      // elements, and the first one in all that is written
	uint stage;               // 1: the first elements of planes are here, 2: the last ones are
	uint points, channels;    // of an image in this part
	uint tableBase, entry;    // the word of the first point, and words of an entry
	uint inBase, plane;       // the first element here of the first plane, and elements of a plane
	uint low, some;           // the first element of a plane that is here, and how many are
	uint n[3];                // the size of a plane
	uint axes, kind, padding; // the last axes have coordinates; kind and padding are those of nn/grid_sample_points
	uint twice;               // 1 if an element at an edge is reflected next to itself, or 0
	uint undefined[2];        // the result without a place, as REAL
} p;

INPUT_WORDS(0, src);
INPUT_WORDS(1, table);
layout(set = 0, binding = 2) buffer AccumulatorBuffer { uint accumulators[]; };
OUTPUT_WORDS(3, dst);

REAL elementOf(uint e, bool own) {
	uint kind = p.kind, entry = p.entry, axes = p.axes, low = p.low, some = p.some;
	uint column = e % p.points, rest = e / p.points;
	uint h = p.tableBase + (rest / p.channels * p.points + column) * axes * entry;
	bool mirror = p.padding == 2u, zeros = p.padding == 0u;
	int twice = int(p.twice);
	ivec3 last = ivec3(p.n[0], p.n[1], p.n[2]) - 1;
	// The last axis has the first entry.
	bool has1 = axes > 1u, has0 = axes > 2u;
	uint h1 = h + mix(0u, entry, has1), h0 = h + mix(0u, 2u * entry, has0);
	uint w2 = WORD(table, h), w1 = WORD(table, h1), w0 = WORD(table, h0);
	bool nowhere = any(equal(uvec3(w0, w1, w2), uvec3(NOWHERE)));
	REAL f2 = PART(table, h), f1 = PART(table, h1), f0 = PART(table, h0);
	uint taps = 1u << kind;
	int before = int(kind >> 1u);
	// An axis that is not there has one row of weight 1.
	uint taps1 = mix(1u, taps, has1), taps0 = mix(1u, taps, has0), kind1 = mix(0u, kind, has1), kind0 = mix(0u, kind, has0);
	int q2 = int(w2) - before, q1 = mix(0, int(w1) - before, has1), q0 = mix(0, int(w0) - before, has0);
	uint base = p.inBase + rest * p.plane;
	REAL sum = REAL(0);
	for (uint i = 0u; i < taps0; i++) {
		int r0 = q0 + int(i), c0 = element(r0, last.x, mirror, twice);
		REAL u0 = weight(kind0, i, f0), a = REAL(0);
		bool in0 = all(bvec2(u0 != REAL(0), any(bvec2(!zeros, r0 == c0))));
		for (uint j = 0u; j < taps1; j++) {
			int r1 = q1 + int(j), c1 = element(r1, last.y, mirror, twice);
			REAL u1 = weight(kind1, j, f1), b = REAL(0);
			bool in1 = all(bvec2(u1 != REAL(0), any(bvec2(!zeros, r1 == c1))));
			uint line = uint((c0 * (last.y + 1) + c1) * (last.z + 1));
			for (uint k = 0u; k < taps; k++) {
				int r2 = q2 + int(k), c2 = element(r2, last.z, mirror, twice);
				REAL u2 = weight(kind, k, f2);
				uint at = line + uint(c2) - low;
				bool in2 = all(bvec3(u2 != REAL(0), any(bvec2(!zeros, r2 == c2)), at < some));
				b += mix(REAL(0), u2 * ELEMENT(src, base + min(at, some - 1u)), in2);
			}
			a += mix(REAL(0), u1 * b, in1);
		}
		sum += mix(REAL(0), u0 * a, in0);
	}
	uint slot = e * REAL_WORDS;
	REAL earlier = REAL(0), undefined;
	if ((p.stage & 1u) == 0u) GET_REAL(earlier, accumulators, slot);
	sum += earlier;
	if (all(bvec2(own, (p.stage & 2u) == 0u))) PUT_REAL(accumulators, slot, sum);
	GET_REAL(undefined, p.undefined, 0);
	return mix(sum, undefined, nowhere);
}

void main() {
	ELEMENTS(dst, p.outBase, p.count, elementOf)
}
