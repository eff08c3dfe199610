// Gaussian blur of RGBA bytes by a picture of half the width and height. Its pixels are cells, of
// every second row and column, which have nearly all of the blur. A cubic B-spline makes pixels of
// them, and has the rest. Between the passes are strips of ROWS rows, as in gaussian_blur.
//
//   first   blurs down the columns, and makes every second row
//   second  blurs along the rows, and makes every second column
//   expand  makes the pixels
//
// Cells begin a row and a column before the picture. With .opaque pixels are opaque, else as the image.
//
//lathe:variant u8.first.texel U8 TEXEL DST_MID FIRST ROWS=8 TAPS=4
//lathe:variant u8.second.texel U8 TEXEL SRC_MID DST_MID SECOND ROWS=8 TAPS=4
//lathe:variant u8.expand.texel U8 TEXEL SRC_MID EXPAND ROWS=2
//lathe:variant u8.expand.opaque.texel U8 TEXEL SRC_MID EXPAND ROWS=2 OPAQUE_ONLY
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns;   // invocations along a strip
	uint width;     // packs a row of the result, in expand
	uint height;    // lines there are to read: those beyond repeat the first and the last
	int line;       // the line of the first cell; in expand the row of the first pixel
	uint rows;      // rows of the result end before this one, in expand
	uint srcBase;   // pack of line 0
	uint srcPitch;  // packs from row to row, or from strip to strip in second
	uint dstBase;
	uint dstPitch;
	uint radius;    // lines
	uint steps;     // ⌈(2·radius + 2·ROWS − 1) / TAPS⌉
	uint imageBase; // pack of the image at row 0
	uint imagePitch;
} p;

#include "lib/pixels.glsl"

#if defined(EXPAND)
#if !defined(OPAQUE_ONLY)
#define IMAGE 2
#include "lib/alpha.glsl"
#endif

void main() {
	uint x = gl_GlobalInvocationID.x, strip = gl_WorkGroupID.y;
	if (x >= p.columns) return;
	uint srcPitch = p.srcPitch, dstPitch = p.dstPitch, width = p.width, from = p.srcBase + strip * ROWS * srcPitch + x;
	int row = p.line + int(strip * ROWS * 2), rows = int(p.rows);
	RAW v[ROWS + 2][2];
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) {
		[[unroll]] for (uint i = 0; i < 2; i++) v[r][i] = fetchPack(from + r * srcPitch + i);
	}
	[[unroll]] for (uint h = 0; h < 2; h++) {
		// Along the rows: the pixel of a cell, and the one after it.
		vec3 c[ROWS + 2][4];
		[[unroll]] for (uint r = 0; r < ROWS + 2; r++) {
			vec3 cell[4];
			[[unroll]] for (uint i = 0; i < 4; i++) cell[i] = placed(v[r][(2 * h + i) / 4][(2 * h + i) % 4]);
			[[unroll]] for (uint i = 0; i < 2; i++) {
				c[r][2 * i] = fma(cell[i + 1], vec3(6.0), cell[i] + cell[i + 2]);
				c[r][2 * i + 1] = cell[i + 1] + cell[i + 2];
			}
		}
		uint at = 2 * x + h;
		[[unroll]] for (uint r = 0; r < 2 * ROWS; r++) {
			int y = row + int(r);
			if (y >= 0 && y < rows && at < width) {
				Pixel made[PACK];
				[[unroll]] for (uint k = 0; k < PACK; k++) {
					float scale = (k % 2 == 0 ? 1.0 / 8.0 : 1.0 / 2.0) * (r % 2 == 0 ? 1.0 / 8.0 : 1.0 / 2.0);
					vec3 sum = c[r / 2 + 1][k] + c[r / 2 + 2][k];
					if (r % 2 == 0) sum = fma(c[r / 2 + 1][k], vec3(6.0), c[r / 2][k] + c[r / 2 + 2][k]);
					made[k].rgb = fma(sum, scale * MID / PLACE, vec3(HALF));
					made[k].alpha = OPAQUE;
				}
#if !defined(OPAQUE_ONLY)
				loadAlpha(p.imageBase + uint(y) * p.imagePitch + at, made);
#endif
				storePack(p.dstBase + uint(y) * dstPitch + at, made);
			}
		}
	}
}
#else
layout(set = 0, binding = 2) uniform samplerBuffer weights;
const uint DEEP = ROWS / PACK, REACH = 2 * (ROWS - 1);

#if defined(FIRST)
const vec3 SCALE = 1.0 / MID / PLACE;
layout(set = 0, binding = 3) writeonly buffer Flags { uint flags[4]; };
#else
const vec3 SCALE = 1.0 / PLACE;
#endif

void main() {
	uint x = gl_GlobalInvocationID.x, strip = gl_WorkGroupID.y;
	if (x >= p.columns) return;
#if defined(FIRST)
	uint from = p.srcBase + x, by = p.srcPitch;
	int at = p.line + int(strip * ROWS * 2) - int(p.radius);
	RAW seen = RAW(OPAQUE);
#else
	uint from = p.srcBase + strip * p.srcPitch + x % DEEP, by = DEEP;
	int at = p.line + int(x / DEEP * ROWS * 2) - int(p.radius);
#endif
	int last = int(p.height) - 1;
	vec3 sum[ROWS][PACK];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		[[unroll]] for (uint k = 0; k < PACK; k++) sum[r][k] = vec3(0.0);
	}
	// The weights of these lines for all cells: the last vectors are those of the first cell.
	const uint FOURS = (REACH + 3) / 4 + TAPS / 4;
	vec4 w[FOURS];
	[[unroll]] for (uint q = 0; q < FOURS; q++) w[q] = vec4(0.0);
	for (uint s = 0, steps = p.steps; s < steps; s++) {
		[[unroll]] for (uint q = 0; q < FOURS - TAPS / 4; q++) w[q] = w[q + TAPS / 4];
		[[unroll]] for (uint q = 0; q < TAPS / 4; q++) w[FOURS - TAPS / 4 + q] = texelFetch(weights, int(s * (TAPS / 4) + q));
		RAW v[TAPS];
		[[unroll]] for (uint t = 0; t < TAPS; t++) v[t] = fetchPack(from + uint(clamp(at + int(t), 0, last)) * by);
#if defined(FIRST)
		[[unroll]] for (uint t = 0; t < TAPS; t++) seen &= v[t];
#endif
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			vec3 c[TAPS];
			[[unroll]] for (uint t = 0; t < TAPS; t++) c[t] = placed(v[t][k]);
			[[unroll]] for (uint r = 0; r < ROWS; r++) {
				[[unroll]] for (uint t = 0; t < TAPS; t++) {
					uint i = (REACH + 3) / 4 * 4 + t - 2 * r;
					sum[r][k] = fma(c[t], vec3(w[i / 4][i % 4]), sum[r][k]);
				}
			}
		}
		at += int(TAPS);
	}
#if defined(FIRST)
	uint to = p.dstBase + strip * p.dstPitch + x * ROWS, next = DEEP;
	if (seen != RAW(OPAQUE)) flags[0] = 1u;
#else
	uint to = p.dstBase + (strip * ROWS + x % DEEP * PACK) * p.dstPitch + x / DEEP * DEEP, next = p.dstPitch;
#endif
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		[[unroll]] for (uint r = 0; r < ROWS; r += PACK) {
			Pixel c[PACK]; // turned round
			[[unroll]] for (uint j = 0; j < PACK; j++) c[j].rgb = fma(sum[r + j][k], SCALE, vec3(HALF));
			storePack(to + k * next + r / PACK, c);
		}
	}
}
#endif
