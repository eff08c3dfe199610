// A grid of places for nn/grid_sample_points: the product of a matrix [axes, axes + 1] with the coordinates of each
// point and 1. A launch makes a part of the output [images, points, axes] that is contiguous.
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

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count, outBase;  // elements, and the first one in all that is written
	uint first, points;   // the first point in its image, and the points of an image
	uint axes, inBase;    // where the matrix of the first image begins
	uint n[3], spread[3]; // the size of each axis, the last one first, and the distance from -1 to 1 in halves of a step
} p;

INPUT_WORDS(0, theta);
OUTPUT_WORDS(1, dst);

REAL elementOf(uint e, bool own) {
	uint axes = p.axes, point = e / axes, row = e - point * axes, at = p.first + point;
	uint image = at / p.points, i = at - image * p.points;
	uint h = p.inBase + (image * axes + row) * (axes + 1u);
	REAL sum = ELEMENT(theta, h + axes);
	for (uint k = 0u; k < axes; k++) {
		uint n = p.n[k], next = i / n;
		// An odd or an even number of halves of a step from the centre.
		int place = 2 * int(i - next * n) - int(n - 1u);
		sum += ELEMENT(theta, h + k) * (REAL(place) / REAL(p.spread[k]));
		i = next;
	}
	return sum;
}

void main() {
	ELEMENTS(dst, p.outBase, p.count, elementOf)
}
