// For each element of the input of a pooling, what the windows around it have. The tensors are
// those of lib/pool.glsl: [planes, o, o, o], which is read, and [planes, n, n, n]. A launch reads
// a part of the windows around each element.
//
// The shader defines take(), which adds a window to the sum of a row.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL

#define REALS 1
#define INDEXED
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/element.glsl"

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count, outBase;    // elements, and the first one in all that is written
	uint stage;             // 1: the first windows are here, 2: the last ones are
	uint n[3];              // the size of the part of the output
	uint s[3], d[3];        // strides and dilations
	uint reach[3];          // from the first tap of a window to the last one
	uint y[3];              // the coordinate of the first element, counted from the pad
	uint o[3];              // the number of windows
	uint from[3], take[3];  // which of the windows around an element are here
	int inBase;             // where the first plane begins
	uint number;            // of the first element in the whole output
} p;

INPUT_WORDS(0, src);
layout(set = 0, binding = 1) buffer AccumulatorBuffer { uint accumulators[]; };
OUTPUT_WORDS(2, dst);

// around is the range of windows along a dimension, of those here, that reach coordinate y.
uvec2 around(uint y, uint s, uint reach, uint o, uint from, uint take) {
	uint first = (max(y, reach) - reach + s - 1u) / s + from;
	return uvec2(first, min(min(first + take, o), y / s + 1u));
}

// hits says whether window o has a tap at y, and not only one before and one after it.
bool hits(uint y, uint o, uint s, uint d) { return (y - o * s) % d == 0u; }

// at is the position of a window, and number is that of the element in the whole output.
REAL take(uint at, uint number);

REAL elementOf(uint e, bool own) {
	Accumulator a;
	a.a = REAL(0);
	a.index = 0u;
	uint slot = (p.outBase + e) * ACCUMULATOR_WORDS;
	if ((p.stage & 1u) == 0u) GET_ACCUMULATOR(a, accumulators, slot)
	uint y2 = p.y[2] + e % p.n[2], rest = e / p.n[2];
	uint y1 = p.y[1] + rest % p.n[1];
	rest /= p.n[1];
	uint y0 = p.y[0] + rest % p.n[0];
	uint plane = uint(p.inBase) + rest / p.n[0] * (p.o[0] * p.o[1] * p.o[2]);
	uvec2 t0 = around(y0, p.s[0], p.reach[0], p.o[0], p.from[0], p.take[0]);
	uvec2 t1 = around(y1, p.s[1], p.reach[1], p.o[1], p.from[1], p.take[1]);
	uvec2 t2 = around(y2, p.s[2], p.reach[2], p.o[2], p.from[2], p.take[2]);
	for (uint i = t0.x; i < t0.y; i++) {
		bool hit0 = hits(y0, i, p.s[0], p.d[0]);
		REAL sum = REAL(0);
		for (uint j = t1.x; j < t1.y; j++) {
			bool hit1 = hits(y1, j, p.s[1], p.d[1]);
			uint row = plane + (i * p.o[1] + j) * p.o[2];
			REAL part = REAL(0);
			for (uint k = t2.x; k < t2.y; k++) {
				bool hit = all(bvec3(hit0, hit1, hits(y2, k, p.s[2], p.d[2])));
				part += mix(REAL(0), take(row + k, p.number + e), hit);
			}
			sum += part;
		}
		a.a += sum;
	}
	if (all(bvec2(own, (p.stage & 2u) == 0u))) PUT_ACCUMULATOR(accumulators, slot, a)
	return a.a;
}

void main() {
	ELEMENTS(dst, p.outBase, p.count, elementOf)
}
