// Samples of regions of images, between pixels, as a mean or a largest value. The tensors are
// [n,c,h,w] and [regions,c,height,width], and nn/roi_table has made the table of the regions. A launch
// makes a part of the result that is contiguous, from the elements of the images that lie in the
// binding. Where there are other parts of the images, an accumulator carries the value on.
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
#include "lib/roi.glsl"

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count, outBase;       // elements, and the first one in the binding
	uint tableBase;            // the word of the entry of the first region
	uint first;                // the number of the first element in its region
	uint stage;                // 1: the first part of the images is here, 2: the last one is
	uint largest;              // 1: the largest value, 0: the mean
	uint c, h, w;              // the size of an image
	uint height, width;        // of a region of the result
	uint from, have, srcBase;  // the number of the first element of the images that is here, how many are, and where they begin
} p;

INPUT_WORDS(0, src);
layout(set = 0, binding = 1) buffer AccumulatorBuffer { uint accumulators[]; };
OUTPUT_WORDS(2, dst);
layout(set = 0, binding = 3) readonly buffer TableBuffer { uint table[]; };

// Axis is the two pixels around a position, and their weights.
struct Axis {
	uint low, high;
	REAL below, above;
	bool inside;
};

// axisOf is that of position y among n pixels. NaN and what is further away than a pixel are outside.
Axis axisOf(REAL y, uint n) {
	bool inside = all(bvec3(!isNaN(y), y >= REAL(-1), y <= REAL(n)));
	y = mix(REAL(0), clamp(y, REAL(0), REAL(n - 1u)), inside);
	uint low = min(uint(int(y)), n - 1u);
	REAL above = y - REAL(low);
	return Axis(low, min(low + 1u, n - 1u), REAL(1) - above, above, inside);
}

// add adds a weighted pixel to a sum, and compares it with the largest one. Outside, it is 0. NaN is larger
// than all numbers.
void add(uint at, REAL weight, bool inside, inout REAL sum, inout REAL most) {
	bool here = at < p.have;
	REAL v = mix(REAL(0), weight * ELEMENT(src, p.srcBase + min(at, p.have - 1u)), all(bvec2(inside, here)));
	bool larger = all(bvec2(!isNaN(most), any(bvec2(v > most, isNaN(v)))));
	sum += v;
	most = mix(most, v, all(bvec2(larger, any(bvec2(here, !inside)))));
}

REAL elementOf(uint e, bool own) {
	Accumulator a;
	a.a = mix(REAL(0), -infinity(), p.largest != 0u);
	uint slot = e * ACCUMULATOR_WORDS;
	if ((p.stage & 1u) == 0u) GET_ACCUMULATOR(a, accumulators, slot)
	uint i = p.first + e, size = p.c * p.height * p.width, region = i / size, rest = i - region * size;
	uint px = rest % p.width;
	rest /= p.width;
	uint py = rest % p.height, at = p.tableBase + region * ENTRY;
	REAL y, x, dy, dx;
	GET_REAL(y, table, at);
	GET_REAL(x, table, at + REAL_WORDS);
	GET_REAL(dy, table, at + 2u * REAL_WORDS);
	GET_REAL(dx, table, at + 3u * REAL_WORDS);
	uint rows = table[ROWS(at)], columns = table[COLUMNS(at)], samples = rows * columns;
	uint h = p.h, w = p.w, plane = (table[IMAGE(at)] * p.c + rest / p.height) * h * w;
	y += REAL(py) * dy;
	x += REAL(px) * dx;
	dy /= REAL(max(rows, 1u));
	dx /= REAL(max(columns, 1u));
	// Nothing of the plane may be here.
	rows = mix(0u, rows, all(bvec2(plane < p.from + p.have, plane + h * w > p.from)));
	plane -= p.from;
	REAL total = REAL(0), most = a.a;
	for (uint j = 0u; j < rows; j++) {
		Axis v = axisOf(y + (REAL(j) + REAL(0.5)) * dy, h);
		uint low = plane + v.low * w, high = plane + v.high * w;
		REAL row = REAL(0);
		for (uint k = 0u; k < columns; k++) {
			Axis u = axisOf(x + (REAL(k) + REAL(0.5)) * dx, w);
			bool inside = all(bvec2(u.inside, v.inside));
			REAL sum = REAL(0);
			add(low + u.low, v.below * u.below, inside, sum, most);
			add(low + u.high, v.below * u.above, inside, sum, most);
			add(high + u.low, v.above * u.below, inside, sum, most);
			add(high + u.high, v.above * u.above, inside, sum, most);
			row += sum;
		}
		total += row;
	}
	a.a = mix(a.a + total, most, p.largest != 0u);
	if (all(bvec2(own, (p.stage & 2u) == 0u))) PUT_ACCUMULATOR(accumulators, slot, a)
	REAL mean = a.a / REAL(max(samples, 1u));
	return mix(mix(mean, a.a, p.largest != 0u), REAL(0), samples == 0u);
}

void main() {
	if (table[IMAGE(p.tableBase)] == FAULTY) return;
	ELEMENTS(dst, p.outBase, p.count, elementOf)
}
