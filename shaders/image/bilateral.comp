// The mean of a disc of pixels, which count the less the farther away they are and the more their
// colour differs. If alpha weighs, colours are those times alpha, and alpha is a colour too, so that
// hidden colours have no effect. Otherwise alpha stays.
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
	uint radius;    // pixels on each side
	uint weigh;     // 1: alpha weighs
	uint steps;     // ⌈(2·radius + 1) / TAPS⌉
	float bySpace;  // the binary logarithm of a weight for a squared distance in pixels
	float byColour; // and for a squared distance of colours, in the scale of the type
} p;

#include "lib/pixels.glsl"
#include "lib/around.glsl"
#include "lib/mean.glsl"

const uint TAPS = 4; // pixels of a row that are read at a time

void tile(uint x, uint first, uint end) {
	int radius = int(p.radius), top = int(p.row + first);
	uint lines = 2 * p.radius + ROWS, steps = p.steps;
	float bySpace = p.bySpace, byColour = p.byColour;
	bool weigh = p.weigh != 0u;
	vec4 own[ROWS], sum[ROWS];
	float all_[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		own[r] = weighed(pixelAt(int(x), top + int(r)), weigh);
		sum[r] = vec4(0.0);
		all_[r] = 0.0;
	}
	for (uint y = 0; y < lines; y++) {
		int half_[ROWS]; // pixels on each side of this row that are in the disc of a pixel
		float down[ROWS];
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			int dy = int(y) - int(r) - radius, rest = radius * radius - dy * dy;
			// Half a unit keeps the roots of whole numbers away from whole numbers.
			half_[r] = mix(-1, int(sqrt(float(max(rest, 0)) + 0.5)), rest >= 0);
			down[r] = float(dy * dy);
		}
		uint row = rowAt(top - radius + int(y));
		for (uint s = 0; s < steps; s++) {
			vec4 v[TAPS];
			int d[TAPS];
			[[unroll]] for (uint t = 0; t < TAPS; t++) {
				d[t] = int(s * TAPS + t) - radius;
				v[t] = weighed(pixelOf(fetchPack(row + columnAt(int(x) + d[t])), 0), weigh);
			}
			[[unroll]] for (uint t = 0; t < TAPS; t++) {
				[[unroll]] for (uint r = 0; r < ROWS; r++) {
					vec4 apart = abs(v[t] - own[r]);
					float far = apart.r + apart.g + apart.b + FULL * apart.a;
					float w = exp2((down[r] + float(d[t] * d[t])) * bySpace + far * far * byColour);
					w = mix(0.0, w, abs(d[t]) <= half_[r]);
					sum[r] += w * v[t];
					all_[r] += w;
				}
			}
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
