// nn/conv_panel for devices whose invocations are the lanes of a vector of the processor. The four
// invocations of a workgroup are neighbours along the channels of the result. A workgroup makes
// ROWS elements of 4·COLS channels. Numbers of the input are the same for all invocations, and
// numbers of the filter are whole vectors.
//
//lathe:variant f32 F32 ROWS=3 COLS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/conv.glsl"

#define WG 4
layout(local_size_x = WG) in;

layout(set = 0, binding = 0) readonly buffer In { float x[]; };
layout(set = 0, binding = 1) readonly buffer Filter { float w[]; };
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) buffer Out { float c[]; };

void main() {
	uint g = gl_WorkGroupID.z + p.firstG, all = 4 * p.kWide;
	uint column = gl_WorkGroupID.x * (WG * COLS), row = p.firstRow + gl_WorkGroupID.y * ROWS;
	uint from[ROWS];
	FROM(from, row, g)
	[[unroll]] for (uint i = 0; i < ROWS; i++) from[i] *= 4;
	// A column past the end reads the last texel of channels.
	uint tap[COLS];
	[[unroll]] for (uint j = 0; j < COLS; j++) tap[j] = 4 * g * p.wG + min(column + WG * j, all - WG) + gl_LocalInvocationID.x;
	float acc[ROWS][COLS];
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLS; j++) acc[i][j] = 0.0;
	uint at = 0;
	TAPS
	uvec3 r = uvec3(0);
	for (uint e = 0; e < p.depth; e++) {
		[[unroll]] for (uint q = 0; q < 4; q++) {
			float v[ROWS];
			// Of neighbouring words the last one is read first: matmul_lanes says why.
			[[unroll]] for (uint i = 0; i < ROWS; i++) v[i] = x[from[i] + 4 * at + (3 - q)];
			[[unroll]] for (uint j = 0; j < COLS; j++) {
				float y = w[tap[COLS - 1 - j] + (4 * e + (3 - q)) * all];
				[[unroll]] for (uint i = 0; i < ROWS; i++) acc[i][COLS - 1 - j] += v[i] * y;
			}
		}
		STEP(at, r)
	}
	uint into[ROWS];
	INTO(into, row, g)
	[[unroll]] for (uint j = 0; j < COLS; j++) {
		uint k = column + WG * j + gl_LocalInvocationID.x;
		float add = 0.0;
		if ((p.bias & 1u) != 0) add = bias[p.biasBase + g * p.k + min(k, p.k - 1)];
		[[unroll]] for (uint i = 0; i < ROWS; i++) {
			uint to = into[i] + k * p.outK;
			if (row + i < p.rows && k < p.k) {
				if ((p.bias & 2u) != 0) c[to] += acc[i][j] + add;
				else c[to] = acc[i][j] + add;
			}
		}
	}
}
