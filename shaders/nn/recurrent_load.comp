// Copies a matrix to the dtype of the accumulators, with zeros to the right and below. Each element
// is the sum of up to two elements of the source.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/accumulator.glsl"
#define WIDE_OUT
#include "lib/element.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // elements to write
	uint wide;  // of them in a row
	uint rows;  // of the source
	uint cols;
	uint terms;  // elements of the source that an element is the sum of
	uint second; // distance to the second one
	uint srcBase;
	uint srcRow;
	uint srcCol;
	uint dstBase;
	uint dstRow;
} p;

INPUT_WORDS(0, src);
OUTPUT_WORDS(1, dst);

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x, row = i / p.wide, col = i - row * p.wide;
	if (i >= p.count) return;
	REAL v = REAL(0);
	if (row < p.rows && col < p.cols && p.terms > 0u) {
		uint at = p.srcBase + row * p.srcRow + col * p.srcCol;
		v = ELEMENT(src, at);
		if (p.terms > 1u) v += ELEMENT(src, at + p.second);
	}
	PUT_ELEMENT(dst, p.dstBase + row * p.dstRow + col, v);
}
