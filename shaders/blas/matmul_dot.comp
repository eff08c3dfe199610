// Matrix product for CPU drivers if one operand is only a few vectors. Both operands are
// texels along k, the matrix as it lies in memory, the vectors in f32 or f64. An invocation makes
// ROWS rows of C, COLUMNS columns at a time. All invocations of a workgroup use the same
// vectors, and one texel of them serves all rows.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant * TEXEL ROWS=1 COLUMNS=4
//lathe:variant *.one TEXEL ROWS=8 COLUMNS=1
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define WG 8
layout(local_size_x = WG) in;

#include "lib/dtype.glsl"
#include "lib/quads.glsl"
#include "lib/gemm.glsl"

// The texels of a row that are read one after the other: 64 bytes, a line of the cache. If
// rows are a power of two apart, a line is lost before its next texel would be read.
#define AHEAD 4

INPUT(0, a);
OPERAND(1, b);
OPERAND(2, bias);
layout(set = 0, binding = 3) buffer C { REAL c[]; };

VEC acc[ROWS][COLUMNS]; // lanes of k apart: short dependency chains, and a smaller error
int ai[ROWS], bi[COLUMNS];

#define ABSORB(k, count) { \
	VEC y[COLUMNS][count * QUADS]; \
	[[unroll]] for (uint j = 0; j < COLUMNS; j++) \
		[[unroll]] for (int u = 0; u < count * QUADS; u++) y[j][u] = VECTOR(b, bi[j] + (k) * QUADS + u); \
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (int u = 0; u < count; u++) { \
		uvec4 r = FETCH(a, ai[i] + (k) + u); \
		[[unroll]] for (uint q = 0; q < QUADS; q++) \
			[[unroll]] for (uint j = 0; j < COLUMNS; j++) acc[i][j] = fma(quad(r, q), y[j][u * QUADS + q], acc[i][j]); \
	} \
}

void main() {
	uint inner, outer, steps;
	locate(inner, outer, steps);
	uint row = gl_WorkGroupID.x * (WG * ROWS) + gl_LocalInvocationID.x, rows = p.m;
	uint column = gl_WorkGroupID.y * COLUMNS, columns = p.n;
	uint a0 = p.aBase + inner * p.aInner + outer * p.aOuter, b0 = p.bBase + inner * p.bInner + outer * p.bOuter;
	uint aRow = p.aRow, bCol = p.bCol;
	[[unroll]] for (uint i = 0; i < ROWS; i++) ai[i] = int(a0 + min(row + WG * i, rows - 1) * aRow);
	[[unroll]] for (uint j = 0; j < COLUMNS; j++) bi[j] = int(b0 + min(column + j, columns - 1) * bCol);
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLUMNS; j++) acc[i][j] = VEC(0.0);
	int k = 0, n = int(steps);
	for (; k + AHEAD <= n; k += AHEAD) ABSORB(k, AHEAD)
	[[dont_unroll]] for (; k < n; k++) ABSORB(k, 1)

	uint ci = p.cBase + inner * p.cInner + outer * p.cOuter, cRow = p.cRow, cCol = p.cCol, accumulate = p.accumulate;
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
#if defined(F64)
		double sum = acc[i][j].x + acc[i][j].y;
#else
		float sum = (acc[i][j].x + acc[i][j].y) + (acc[i][j].z + acc[i][j].w);
#endif
		uint at = ci + (row + WG * i) * cRow + (column + j) * cCol;
		if (row + WG * i < rows && column + j < columns) {
			if (accumulate != 0) c[at] += sum;
			else c[at] = sum;
		}
	}
}
