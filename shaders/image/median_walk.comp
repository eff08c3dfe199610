// The median of a square of pixels of bytes, for each colour on its own, regardless of alpha. An
// invocation goes down a column, and keeps how many pixels of the square have each level. From a
// row to the next it takes one row of pixels out and one in (T. S. Huang, G. J. Yang and G. Y. Tang,
// 1979), so the cost of a pixel grows with the radius and not with its square. This is for
// processors: GPUs have no fast memory of that size for each invocation, and use
// image/median_search.
//
//lathe:variant u8 U8
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	uint radius; // pixels on each side
	uint steps;  // ⌈(2·radius + 1) / 4⌉
	uint half_;  // pixels that may be below the median
	uint span;   // rows that an invocation makes
} p;

#include "lib/pixels.glsl"
#define FLAGS
#include "lib/around.glsl"

const uint LEVELS = 3 * 256; // of an invocation: red, green and blue of level 0, of level 1, …

layout(set = 0, binding = 3) buffer Levels { uint levels[]; };

// countRow adds `by` to the levels of the pixels of a row of the square, which begins in column left.
// below is the number of pixels whose level is less than found.
void countRow(uint at, int left, int y, int by, ivec3 found, inout ivec3 below) {
	uint row = rowAt(y), wide = 2 * p.radius + 1;
	for (uint s = 0; s < p.steps; s++) {
		[[unroll]] for (uint t = 0; t < 4; t++) {
			uint i = 4 * s + t, v = src[row + columnAt(left + int(i))];
			int n = mix(0, by, i < wide);
			ivec3 c = ivec3(v & 0xffu, (v >> 8) & 0xffu, (v >> 16) & 0xffu);
			[[unroll]] for (uint k = 0; k < 3; k++) levels[at + 3 * uint(c[k]) + k] += uint(n);
			below += n * ivec3(lessThan(c, found));
		}
	}
}

ivec3 withLevel(uint at, ivec3 level) {
	uvec3 o = at + 3 * uvec3(level);
	return ivec3(levels[o.r], levels[o.g + 1], levels[o.b + 2]);
}

void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * p.span, end = min(first + p.span, p.rows);
	if (x >= p.columns) return;
	uint at = (gl_WorkGroupID.y * p.columns + x) * LEVELS;
	for (uint i = 0; i < LEVELS; i += 4) {
		[[unroll]] for (uint k = 0; k < 4; k++) levels[at + i + k] = 0u;
	}
	int radius = int(p.radius), most = int(p.half_), left = int(p.column + x) - radius;
	ivec3 found = ivec3(0), below = ivec3(0);
	for (int y = -radius; y < radius; y++) countRow(at, left, int(p.row + first) + y, 1, found, below);
	for (uint r = first; r < end; r++) {
		int y = int(p.row + r);
		countRow(at, left, y + radius, 1, found, below);
		for (;;) { // down
			bvec3 go = greaterThan(below, ivec3(most));
			if (!any(go)) break;
			found -= ivec3(go);
			below -= withLevel(at, found) * ivec3(go);
		}
		for (;;) { // up
			ivec3 here = withLevel(at, found);
			bvec3 go = lessThanEqual(below + here, ivec3(most));
			if (!any(go)) break;
			below += here * ivec3(go);
			found += ivec3(go);
		}
		Pixel own = pixelAt(left + radius, y);
		see(own);
		storePixel(p.column + x, uint(y), Pixel(vec3(found), own.alpha));
		countRow(at, left, y - radius, -1, found, below);
	}
}
