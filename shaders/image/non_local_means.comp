// The mean of the pixels of a square, which count by how alike the patches around them are. The
// distance of two patches is the mean square of the distances of their colours. If alpha weighs,
// colours are those times alpha, and alpha is a colour too. Otherwise alpha stays.
//
// An invocation makes ROWS pixels, one below the other. Their patches share rows, so it adds the
// squares of each row once.
//
//lathe:dtypes u8 f32
//lathe:variant * ROWS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint width;    // pixels a row of the image
	uint height;   // rows of the image
	uint column;   // first pixel to make in each row
	uint columns;  // pixels to make
	uint row;      // first row to make
	uint rows;     // rows to make
	uint srcBase;  // pixel of row 0
	uint srcPitch; // pixels from row to row
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint across;
	uint tiles;
	uint stride;
	uint radius; // rows above and below that a result depends on
	uint weigh;  // 1: alpha weighs
	uint patch_; // pixels of a patch on each side of its middle
	uint search; // pixels on each side of a pixel that are compared
	float byFar; // the binary logarithm of a weight for a sum of squares, in the scale of the type
} p;

#include "lib/pixels.glsl"
#include "lib/around.glsl"
#include "lib/mean.glsl"

const uint TAPS = 4; // pixels of a row that are read at a time

vec4 valueAt(uint row, int x, bool weigh) { return weighed(pixelOf(fetchPack(row + columnAt(x)), 0), weigh); }

void tile(uint x, uint first, uint end) {
	int top = int(p.row + first), patch_ = int(p.patch_), search = int(p.search), left = int(x) - patch_;
	uint wide = 2 * p.patch_ + 1, lines = 2 * p.patch_ + ROWS, steps = (wide + TAPS - 1) / TAPS, side = 2 * p.search + 1;
	bool weigh = p.weigh != 0u;
	float byFar = p.byFar;
	vec4 sum[ROWS];
	float all_[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		sum[r] = vec4(0.0);
		all_[r] = 0.0;
	}
	for (uint i = 0; i < side * side; i++) {
		int dx = int(i % side) - search, dy = int(i / side) - search;
		float far[ROWS];
		[[unroll]] for (uint r = 0; r < ROWS; r++) far[r] = 0.0;
		for (uint y = 0; y < lines; y++) {
			uint row = rowAt(top - patch_ + int(y)), other = rowAt(top - patch_ + int(y) + dy);
			float inRow = 0.0;
			for (uint s = 0; s < steps; s++) {
				[[unroll]] for (uint t = 0; t < TAPS; t++) {
					int at = left + int(s * TAPS + t);
					vec4 apart = valueAt(row, at, weigh) - valueAt(other, at + dx, weigh);
					apart.a *= FULL;
					inRow += mix(0.0, dot(apart, apart), s * TAPS + t < wide);
				}
			}
			[[unroll]] for (uint r = 0; r < ROWS; r++) far[r] += mix(0.0, inRow, y - r < wide); // 0 before row r too
		}
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			float w = exp2(far[r] * byFar);
			sum[r] += w * valueAt(rowAt(top + int(r) + dy), int(x) + dx, weigh);
			all_[r] += w;
		}
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		Pixel here = pixelAt(int(x), top + int(r));
		vec4 mean = sum[r] / all_[r];
		mean.a = mix(0.0, mean.a, mean.a > NOTHING); // where colours become 0 too
		if (first + r < end) storePixel(x, p.row + first + r, meanOf(mean, here, weigh));
	}
}

void main() EACH_TILE(tile)
