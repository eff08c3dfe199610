// Gaussian blur along columns, clamped at the ends, written transposed: run
// twice, it blurs both ways and the image is upright again. An invocation makes
// ROWS rows of one pack and reads TAPS rows at a time, so that a row loaded and
// a loop step serve many outputs. The weights come from gaussian_weights.
//
// A texel of a transposed u8 image holds 4 source rows; ROWS is a multiple of 4
// there. The second pass takes the alpha from the image itself.
//
//lathe:variant u8.first U8 DST_MID ROWS=8 TAPS=4
//lathe:variant u8.second U8 SRC_MID ROWS=8 TAPS=4
//lathe:variant u8.first.texel U8 TEXEL DST_MID ROWS=8 TAPS=4
//lathe:variant u8.second.texel U8 TEXEL SRC_MID ROWS=8 TAPS=4
//lathe:variant f32.first F32 DST_MID ROWS=8 TAPS=4
//lathe:variant f32.second F32 SRC_MID ROWS=8 TAPS=4
//lathe:variant f32.first.texel F32 TEXEL DST_MID ROWS=8 TAPS=4
//lathe:variant f32.second.texel F32 TEXEL SRC_MID ROWS=8 TAPS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns;  // packs a row of the source
	uint width;    // pixels a row of the source
	uint height;   // rows there are: those beyond repeat the first and the last
	uint row;      // first row to blur
	uint rows;     // rows to blur, = pixels to make in each row of the result
	uint srcBase;  // pack of row 0
	uint srcPitch; // packs from row to row
	uint dstBase;  // pack of the first row blurred, in the result's first row
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint radius;   // rows
	uint steps;    // ⌈(2·radius + ROWS) / TAPS⌉
	uint alphaBase; // pack of the image that is the result's first, for the second pass
	uint alphaPitch;
} p;

#include "lib/pixels.glsl"
#if defined(SRC_MID)
#include "lib/alpha.glsl"
#endif

#if defined(SRC_MID)
const vec3 SCALE = MID;
#else
const vec3 SCALE = 1.0 / MID;
#endif

#if defined(TEXEL)
layout(set = 0, binding = 2) uniform samplerBuffer weights;
#define WEIGHTS(i) texelFetch(weights, int(i))
#else
layout(set = 0, binding = 2) readonly buffer Weights { vec4 weights[]; };
#define WEIGHTS(i) weights[i]
#endif

const uint FOURS = (TAPS + ROWS + 2) / 4; // vectors of weights a step needs

void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	vec3 sum[ROWS][PACK];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		[[unroll]] for (uint k = 0; k < PACK; k++) sum[r][k] = vec3(0);
	}
	int at = int(p.row + first) - int(p.radius);
	int last = int(min(p.height, p.row + p.rows + p.radius)) - 1; // the bound window may end there
	for (uint s = 0; s < p.steps; s++) {
		vec4 w[FOURS];
		[[unroll]] for (uint q = 0; q < FOURS; q++) w[q] = WEIGHTS(s * (TAPS / 4) + q);
		RAW v[TAPS];
		[[unroll]] for (uint t = 0; t < TAPS; t++) v[t] = fetchPack(p.srcBase + uint(clamp(at + int(t), 0, last)) * p.srcPitch + x);
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			vec3 c[TAPS];
			[[unroll]] for (uint t = 0; t < TAPS; t++) c[t] = pixelOf(v[t], k).rgb;
			[[unroll]] for (uint r = 0; r < ROWS; r++) {
				[[unroll]] for (uint t = 0; t < TAPS; t++) {
					uint i = t + ROWS - 1 - r;
					sum[r][k] = fma(c[t], vec3(w[i / 4][i % 4]), sum[r][k]);
				}
			}
		}
		at += int(TAPS);
	}
	// Turn the block of ROWS by PACK pixels round, and write it.
	[[unroll]] for (uint r = 0; r < ROWS; r += PACK) {
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			uint row = x * PACK + k, column = (first + r) / PACK;
			if (first + r < p.rows && row < p.width) {
				Pixel c[PACK];
				[[unroll]] for (uint j = 0; j < PACK; j++) c[j].rgb = sum[r + j][k] * SCALE + HALF;
#if defined(SRC_MID)
				loadAlpha(p.alphaBase + row * p.alphaPitch + column, c);
#endif
				storePack(p.dstBase + row * p.dstPitch + column, c);
			}
		}
	}
}
