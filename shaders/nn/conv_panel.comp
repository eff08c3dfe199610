// Convolution as a matrix product without its matrix, by tiles in registers. An invocation makes
// ROWS elements of each of COLS texels of channels. It reads each tap at its distance in the
// packed input. One texel serves many products, so there is no shared memory and no barrier.
// CPU drivers read texel buffers, with one LINE of rows. ADD adds to the result.
//
//lathe:variant f32 F32 ROWS=8 COLS=1 LINES=4 WIDTH=16
//lathe:variant f32.add F32 ROWS=8 COLS=1 LINES=4 WIDTH=16 ADD
//lathe:variant f32.texel F32 TEXEL ROWS=16 COLS=1 LINES=1 WIDTH=8
//lathe:variant f32.texel.add F32 TEXEL ROWS=16 COLS=1 LINES=1 WIDTH=8 ADD
//lathe:variant f32.texel.tall F32 TEXEL ROWS=32 COLS=2 LINES=1 WIDTH=8
//lathe:variant f32.texel.tall.add F32 TEXEL ROWS=32 COLS=2 LINES=1 WIDTH=8 ADD
//lathe:variant f32.texel.wide F32 TEXEL ROWS=16 COLS=4 LINES=1 WIDTH=8
//lathe:variant f32.texel.wide.add F32 TEXEL ROWS=16 COLS=4 LINES=1 WIDTH=8 ADD
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define WG (WIDTH * LINES)
layout(local_size_x = WG) in;

#include "lib/dtype.glsl"
#include "lib/conv.glsl"

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform samplerBuffer x;
layout(set = 0, binding = 1) uniform samplerBuffer w;
#define READ(name, i) texelFetch(name, int(i))
#else
layout(set = 0, binding = 0) readonly buffer In { vec4 x[]; };
layout(set = 0, binding = 1) readonly buffer Filter { vec4 w[]; };
#define READ(name, i) name[i]
#endif
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) buffer Out { float c[]; };

void main() {
	uint g = gl_WorkGroupID.z + p.firstG;
	uint column = gl_WorkGroupID.x * (WIDTH * COLS) + gl_LocalInvocationID.x % WIDTH;
	uint row = p.firstRow + (gl_WorkGroupID.y * LINES + gl_LocalInvocationID.x / WIDTH) * ROWS;
	uint from[ROWS], tap[COLS];
	FROM(from, row, g)
	[[unroll]] for (uint j = 0; j < COLS; j++) tap[j] = g * p.wG + min(column + WIDTH * j, p.kWide - 1);
	vec4 acc[ROWS][COLS];
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLS; j++) acc[i][j] = vec4(0.0);
	uint at = 0, kWide = p.kWide, depth = p.depth;
	TAPS
	uvec3 r = uvec3(0);
	for (uint e = 0; e < depth; e++) {
		vec4 y[4][COLS];
		[[unroll]] for (uint q = 0; q < 4; q++)
			[[unroll]] for (uint j = 0; j < COLS; j++) y[q][j] = READ(w, tap[j] + (4 * e + q) * kWide);
		[[unroll]] for (uint i = 0; i < ROWS; i++) {
			vec4 v = READ(x, from[i] + at);
			[[unroll]] for (uint j = 0; j < COLS; j++)
				acc[i][j] = fma(vec4(v.w), y[3][j], fma(vec4(v.z), y[2][j], fma(vec4(v.y), y[1][j], fma(vec4(v.x), y[0][j], acc[i][j]))));
		}
		STEP(at, r)
	}
	uint into[ROWS];
	INTO(into, row, g)
	uint kAll = p.k, rows = p.rows, outK = p.outK;
	[[unroll]] for (uint j = 0; j < COLS; j++) {
		uint k = 4 * (column + WIDTH * j);
		if (p.bias != 0) {
			vec4 add;
			[[unroll]] for (uint q = 0; q < 4; q++) add[q] = bias[p.biasBase + g * kAll + min(k + q, kAll - 1)];
			[[unroll]] for (uint i = 0; i < ROWS; i++) acc[i][j] += add;
		}
		[[unroll]] for (uint i = 0; i < ROWS; i++) {
			uint to = into[i] + k * outK;
			[[unroll]] for (uint q = 0; q < 4; q++) {
				if (row + i < rows && k + q < kAll) {
#if defined(ADD)
					c[to + q * outK] += acc[i][j][q];
#else
					c[to + q * outK] = acc[i][j][q];
#endif
				}
			}
		}
	}
}
