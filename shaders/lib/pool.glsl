// Pooling over windows of up to three dimensions. The tensors are [planes, i, i, i] and
// [planes, n, n, n]. A launch makes a part of the output that is contiguous, from a part of the
// taps of each window. Where there are other parts of the taps, an accumulator carries the
// value from a launch to the next.
//
// The shader defines pool(), which adds taps to an accumulator, and result().
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
	uint stage;             // 1: the first taps are here, 2: the last ones are
	uint n[3];              // the size of the part of the output
	uint s[3], d[3], k[3];  // strides, dilations, and taps of those here
	int y[3];               // the input's coordinate of the first tap of the first window
	int i[3];               // the size of a plane of the input
	int low[3], high[3];    // coordinates that count for the mean
	int inBase;             // where the first plane begins
	uint indexBase;         // the index of the first element of the binding
	uint indexWords;        // words of an index in the output, or 0
	uint power;
} p;

INPUT_WORDS(0, src);
layout(set = 0, binding = 1) buffer AccumulatorBuffer { uint accumulators[]; };
OUTPUT_WORDS(2, dst);

// taps is the range of taps whose coordinates are from low to high − 1. The first tap is at y.
uvec2 taps(int y, uint d, uint k, int low, int high) {
	uint from = (uint(max(low - y, 0)) + d - 1u) / d, to = (uint(max(high - y, 0)) + d - 1u) / d;
	return min(uvec2(from, to), uvec2(k));
}

// Window is the taps of element e. at is the position of coordinate 0 of its plane.
struct Window {
	uint e, at;
	ivec3 y;
};

Window windowOf(uint e) {
	uint c2 = e % p.n[2], rest = e / p.n[2];
	uint c1 = rest % p.n[1];
	rest /= p.n[1];
	uint plane = rest / p.n[0], c0 = rest - plane * p.n[0];
	ivec3 y = ivec3(p.y[0] + int(c0 * p.s[0]), p.y[1] + int(c1 * p.s[1]), p.y[2] + int(c2 * p.s[2]));
	return Window(e, uint(p.inBase) + plane * uint(p.i[0] * p.i[1] * p.i[2]), y);
}

// inside is the range of taps along dimension j whose elements exist.
#define INSIDE(w, j) taps((w).y[j], p.d[j], p.k[j], 0, p.i[j])

void pool(Window w, inout Accumulator a);
REAL result(Accumulator a);
void also(uint e, Accumulator a);

REAL elementOf(uint e, bool own) {
	Accumulator a;
	a.a = IDENTITY;
	a.index = NO_INDEX;
	uint at = (p.outBase + e) * ACCUMULATOR_WORDS;
	if ((p.stage & 1u) == 0u) GET_ACCUMULATOR(a, accumulators, at)
	pool(windowOf(e), a);
	if (all(bvec2(own, (p.stage & 2u) == 0u))) PUT_ACCUMULATOR(accumulators, at, a)
	if (all(bvec2(own, (p.stage & 2u) != 0u))) also(e, a);
	return result(a);
}

void main() {
	ELEMENTS(dst, p.outBase, p.count, elementOf)
}
