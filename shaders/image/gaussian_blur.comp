// Gaussian blur of strips of ROWS lines, clamped at the ends: one kernel run
// twice. The first pass blurs down the columns and writes each strip of ROWS
// rows column by column; the second blurs along the rows, where the neighbours
// of a pixel are as far apart in memory as they were for the first, and writes
// the image. An invocation makes ROWS pixels of the lines of one pack, so that
// what it writes, and what its neighbours write, lies side by side.
//
// The .short variants are for radii up to RADIUS: they load all they need at
// once and have no loop, in which sums would go through memory. The others read
// TAPS lines at a time. The weights come from gaussian_weights. The second pass
// takes the alpha from the image itself.
//
//lathe:variant u8.first U8 DST_MID ROWS=8 TAPS=4
//lathe:variant u8.second U8 SRC_MID ROWS=8 TAPS=4
//lathe:variant u8.first.texel U8 TEXEL DST_MID ROWS=8 TAPS=4
//lathe:variant u8.second.texel U8 TEXEL SRC_MID ROWS=8 TAPS=4
//lathe:variant u8.first.short.texel U8 TEXEL DST_MID ROWS=4 RADIUS=9
//lathe:variant u8.second.short.texel U8 TEXEL SRC_MID ROWS=4 RADIUS=9
//lathe:variant f32.first F32 DST_MID ROWS=8 TAPS=4
//lathe:variant f32.second F32 SRC_MID ROWS=8 TAPS=4
//lathe:variant f32.first.texel F32 TEXEL DST_MID ROWS=8 TAPS=4
//lathe:variant f32.second.texel F32 TEXEL SRC_MID ROWS=8 TAPS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns;  // invocations along a strip: packs of the source, or of strips
	uint width;    // pixels a row of the result, in the second pass
	uint height;   // lines there are to read: those beyond repeat the first and the last
	uint line;     // first line to blur
	uint rows;     // rows of the result, in the second pass
	uint srcBase;  // pack of line 0
	uint srcPitch; // packs from row to row, or from strip to strip in the second pass
	uint dstBase;
	uint dstPitch; // the same of the result: strips come from the first pass
	uint channels; // floats a pixel, in f32
	uint radius;   // lines
	uint steps;    // ⌈(2·radius + ROWS) / TAPS⌉
	uint alphaBase; // pack of the image at the result's first, for the second pass
	uint alphaPitch;
} p;

#include "lib/pixels.glsl"
#if defined(SRC_MID)
#include "lib/alpha.glsl"
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

const uint DEEP = ROWS / PACK; // packs of a column of a strip

// sumUp adds to sum the weighted lines of ROWS pixels beginning at line `at`, of
// those that lie from + i·by for i up to last.
#if defined(RADIUS)
void sumUp(uint from, uint by, int at, int last, inout vec3 sum[ROWS][PACK]) {
	const uint LINES = ROWS + 2 * RADIUS;
	vec4 w[RADIUS / 4 + 1]; // the first half and the middle: the rest is its mirror image
	[[unroll]] for (uint q = 0; q <= RADIUS / 4; q++) w[q] = WEIGHTS(q);
	RAW v[LINES];
	[[unroll]] for (uint t = 0; t < LINES; t++) v[t] = fetchPack(from + uint(clamp(at - RADIUS + int(t), 0, last)) * by);
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		vec3 c[LINES];
		[[unroll]] for (uint t = 0; t < LINES; t++) c[t] = pixelOf(v[t], k).rgb;
		// In the order of the other variants, so that a picture's width, which decides
		// between them, changes no bit.
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			[[unroll]] for (uint i = 0; i <= 2 * RADIUS; i++) {
				uint m = i < RADIUS ? i : 2 * RADIUS - i;
				sum[r][k] = fma(c[r + i], vec3(w[m / 4][m % 4]), sum[r][k]);
			}
		}
	}
}
#else
void sumUp(uint from, uint by, int at, int last, inout vec3 sum[ROWS][PACK]) {
	const uint FOURS = (TAPS + ROWS + 2) / 4; // vectors of weights a step needs
	at -= int(p.radius);
	uint steps = p.steps;
	for (uint s = 0; s < steps; s++) {
		vec4 w[FOURS];
		[[unroll]] for (uint q = 0; q < FOURS; q++) w[q] = WEIGHTS(s * (TAPS / 4) + q);
		RAW v[TAPS];
		[[unroll]] for (uint t = 0; t < TAPS; t++) v[t] = fetchPack(from + uint(clamp(at + int(t), 0, last)) * by);
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
}
#endif

void main() {
	uint x = gl_GlobalInvocationID.x, strip = gl_WorkGroupID.y;
	if (x >= p.columns) return;
	// Parameters are read once: a driver cannot know that stores leave them alone.
	uint srcPitch = p.srcPitch, dstPitch = p.dstPitch;
#if defined(SRC_MID)
	uint rows = p.rows, width = p.width;
	uint column = x / DEEP * ROWS, row = strip * ROWS + x % DEEP * PACK;
	uint from = p.srcBase + strip * srcPitch + x % DEEP, by = DEEP, first = column;
	uint to = p.dstBase + row * dstPitch + x / DEEP * DEEP, next = dstPitch;
	uint alphaPitch = p.alphaPitch, alpha = p.alphaBase + row * alphaPitch + x / DEEP * DEEP;
#else
	uint from = p.srcBase + x, by = srcPitch, first = strip * ROWS;
	uint to = p.dstBase + strip * dstPitch + x * ROWS, next = DEEP;
#endif
	vec3 sum[ROWS][PACK];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		[[unroll]] for (uint k = 0; k < PACK; k++) sum[r][k] = vec3(0);
	}
	sumUp(from, by, int(p.line + first), int(p.height) - 1, sum);
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		[[unroll]] for (uint r = 0; r < ROWS; r += PACK) {
#if defined(SRC_MID)
			if (row + k < rows && column + r < width)
#endif
			{
				Pixel c[PACK]; // turned round
				[[unroll]] for (uint j = 0; j < PACK; j++) c[j].rgb = sum[r + j][k] * SCALE + HALF;
#if defined(SRC_MID)
				loadAlpha(alpha + k * alphaPitch + r / PACK, c);
#endif
				storePack(to + k * next + r / PACK, c);
			}
		}
	}
}
