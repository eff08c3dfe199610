// Product of a few vectors and a matrix whose rows are blocks, for CPU drivers. The rows consist of
// whole texels, or of halves of words with Q6_K. An invocation makes ROWS rows of the matrix, COLUMNS vectors at a time. All invocations
// of a workgroup use the same vectors, and one texel of them serves all rows. It reads 64 weights of a row at
// a time. A number of the block is shifted to the top of a word and back, which copies its sign.
//
// With ACROSS the invocations of a workgroup share ROWS rows, and take turns at 64 weights each. So memory
// is read on in a few rows, where the processor foresees lines, and an invocation reads its own
// part of the vector only. Rows must be long enough to give all of them something to do.
//
//lathe:variant q4_0.one Q4_0 F32 ROWS=8 COLUMNS=1
//lathe:variant q8_0.one Q8_0 F32 ROWS=8 COLUMNS=1
//lathe:variant q4_k.one Q4_K F32 ROWS=8 COLUMNS=1
//lathe:variant q6_k.one Q6_K F32 ROWS=8 COLUMNS=1
//lathe:variant q4_0.across Q4_0 F32 ROWS=8 COLUMNS=1 ACROSS
//lathe:variant q8_0.across Q8_0 F32 ROWS=8 COLUMNS=1 ACROSS
//lathe:variant q4_k.across Q4_K F32 ROWS=8 COLUMNS=1 ACROSS
//lathe:variant q4_0 Q4_0 F32 ROWS=2 COLUMNS=4
//lathe:variant q8_0 Q8_0 F32 ROWS=2 COLUMNS=4
//lathe:variant q4_k Q4_K F32 ROWS=2 COLUMNS=4
//lathe:variant q6_k Q6_K F32 ROWS=2 COLUMNS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define WG 8
layout(local_size_x = WG) in;
layout(push_constant) uniform Params {
	uint rows;    // of the matrix
	uint columns; // vectors
	uint steps;   // 64 weights each
	uint base;    // texel or half of the first row
	uint row;     // texels or halves from row to row
	uint xBase;
	uint xStep; // texels from vector to vector
	uint cBase;
	uint cStep; // elements from vector to vector
	uint accumulate; // 1: add to the result
} p;
layout(set = 0, binding = 0) uniform usamplerBuffer blocks;
layout(set = 0, binding = 1) uniform samplerBuffer x;
layout(set = 0, binding = 2) buffer C { float c[]; };

vec4 acc[ROWS][COLUMNS];
vec4 y[COLUMNS][16]; // 64 numbers of each vector

#if defined(ACROSS)
uvec4 heads[ROWS];
#endif

#include "lib/block_rows.glsl"

#if defined(ACROSS)
shared float sums[ROWS][WG];
#endif

void main() {
	uint lane = gl_LocalInvocationID.x, rows = p.rows;
#if defined(ACROSS)
	uint row = gl_WorkGroupID.x * ROWS, rowStep = 1;
	int first = int(lane), stride = WG;
#else
	uint row = gl_WorkGroupID.x * (WG * ROWS) + lane, rowStep = WG;
	int first = 0, stride = 1;
#endif
	uint column = gl_WorkGroupID.y * COLUMNS, columns = p.columns;
	int at[ROWS], from[COLUMNS], steps = int(p.steps);
	[[unroll]] for (uint i = 0; i < ROWS; i++) at[i] = int(p.base + min(row + rowStep * i, rows - 1u) * p.row);
	[[unroll]] for (uint j = 0; j < COLUMNS; j++) from[j] = int(p.xBase + min(column + j, columns - 1u) * p.xStep);
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLUMNS; j++) acc[i][j] = vec4(0.0);
	[[dont_unroll]] for (int s = first; s < steps; s += stride) {
#if defined(ACROSS)
		[[unroll]] for (uint i = 0; i < ROWS; i++) heads[i] = texelFetch(blocks, HEAD_OF(at[i], s));
#endif
		[[unroll]] for (uint j = 0; j < COLUMNS; j++)
			[[unroll]] for (int u = 0; u < 16; u++) y[j][u] = texelFetch(x, from[j] + 16 * s + u);
		[[unroll]] for (uint i = 0; i < ROWS; i++) absorb(i, at[i] + TEXEL_OF(s), TURN_OF(s));
	}
#if defined(ACROSS)
	[[unroll]] for (uint i = 0; i < ROWS; i++) sums[i][lane] = (acc[i][0].x + acc[i][0].y) + (acc[i][0].z + acc[i][0].w);
	barrier();
	if (lane < ROWS && row + lane < rows) {
		float sum = 0.0;
		[[unroll]] for (uint j = 0; j < WG; j++) sum += sums[lane][j];
		uint own = p.cBase + row + lane + column * p.cStep;
		if (p.accumulate != 0u) c[own] += sum;
		else c[own] = sum;
	}
#else
	uint to = p.cBase + row + column * p.cStep, step = p.cStep, accumulate = p.accumulate;
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
		float sum = (acc[i][j].x + acc[i][j].y) + (acc[i][j].z + acc[i][j].w);
		if (row + WG * i < rows && column + j < columns) {
			uint own = to + WG * i + j * step;
			if (accumulate != 0u) c[own] += sum;
			else c[own] = sum;
		}
	}
#endif
}
