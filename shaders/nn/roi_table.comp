// What nn/roi_align needs to know of each region: where it starts, the size of an element of the
// result, the numbers of samples along both axes, and the number of the image. That is ~0 if a
// device check has found a fault.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *

#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 4
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/element.glsl"
#include "lib/roi.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count;                      // regions
	uint roiBase, indexBase, base;   // where the first one is: in elements, in words, and in words
	uint indexWords;                 // words of an index
	uint height, width;              // of the result
	uint ratio;                      // samples along an axis, or 0 if the size of the region decides
	uint most;                       // the largest number of them
	uint least;                      // the least size of a region, in pixels
	uint scale[2], offset[2];        // from coordinates of regions to those of pixels, as REAL
} p;

INPUT_WORDS(0, rois);
layout(set = 0, binding = 1) readonly buffer IndexBuffer { uint indices[]; };
layout(set = 0, binding = 2) readonly buffer FaultBuffer { uint faults[4]; };
layout(set = 0, binding = 3) writeonly buffer TableBuffer { uint table[]; };

// samples is size / n, rounded up. A device may round the quotient to either side of a whole number, so
// it is compared again by products, which are exact in F32 up to 2^24. NaN has no samples.
uint samples(REAL size, uint n) {
	if (p.ratio != 0u) return p.ratio;
	if (isNaN(size)) return 0u;
	REAL most = REAL(p.most), q = ceil(clamp(size / REAL(n), REAL(0), most));
	q = mix(q, q + REAL(1), q * REAL(n) < size);
	q = mix(q, q - REAL(1), (q - REAL(1)) * REAL(n) >= size);
	return uint(int(clamp(q, REAL(0), most)));
}

// extent is the size of a region. NaN stays NaN.
REAL extent(REAL from, REAL to, REAL scale) {
	REAL size = (to - from) * scale;
	return mix(size, REAL(p.least), all(bvec3(p.least != 0u, !isNaN(size), size < REAL(p.least))));
}

void main() {
	uint r = flatGroup() * WG + gl_LocalInvocationID.x;
	if (r >= p.count) return;
	uint from = p.roiBase + 4u * r, at = p.base + r * ENTRY;
	REAL scale, offset;
	GET_REAL(scale, p.scale, 0);
	GET_REAL(offset, p.offset, 0);
	REAL x = ELEMENT(rois, from), y = ELEMENT(rois, from + 1u);
	REAL w = extent(x, ELEMENT(rois, from + 2u), scale), h = extent(y, ELEMENT(rois, from + 3u), scale);
	Accumulator a;
	a.a = y * scale - offset;
	a.b = x * scale - offset;
	a.c = h / REAL(p.height);
	a.d = w / REAL(p.width);
	PUT_ACCUMULATOR(table, at, a)
	table[ROWS(at)] = samples(h, p.height);
	table[COLUMNS(at)] = samples(w, p.width);
	table[IMAGE(at)] = mix(indices[p.indexBase + r * p.indexWords], FAULTY, faults[0] != 0u);
}
