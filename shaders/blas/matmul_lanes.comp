// Matrix product for devices whose invocations are the lanes of a vector of the processor.
// The four invocations of a workgroup are neighbours along n, where B has no gaps. A
// workgroup makes ROWS rows of 4·COLS columns in registers: numbers of A are the same for all
// invocations, and rows of B and C are whole vectors. There is no shared memory, because a
// cache is one. The workgroups of a column of tiles follow each other, so that their part of
// B stays in the cache. The plan packs operands that do not lie so.
//
//lathe:variant f32 F32 ROWS=3 COLS=4
//lathe:variant f32.panel F32 ROWS=3 COLS=4 PANEL
//lathe:variant f32.row F32 ROWS=1 COLS=8
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/gemm.glsl"

#define WG 4
#if defined(PANEL) // what blas/matmul_panels has made
#define B_ROW (WG * COLS)
#else
#define B_ROW p.bRow
#endif
#define STEPS 4 // of k, one after the other
layout(local_size_x = WG) in;

layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) buffer C { float c[]; };

// ABSORB adds the products of one index of k. Of neighbouring words the last one is read
// first: the engine of the device then knows that the others lie in its memory too.
#define ABSORB(k, more) { \
	float x[ROWS]; \
	[[unroll]] for (uint i = 0; i < ROWS; i++) x[i] = a[ai[i] + k + (more)]; \
	[[unroll]] for (uint j = 0; j < COLS; j++) { \
		float y = b[bi + (k + (more)) * bRow + WG * (COLS - 1 - j)]; \
		[[unroll]] for (uint i = 0; i < ROWS; i++) acc[i][COLS - 1 - j] += x[i] * y; \
	} \
}

void main() {
	uint inner, outer, depth;
	locate(inner, outer, depth);
	uint row = gl_WorkGroupID.x * ROWS, column = gl_WorkGroupID.y * (WG * COLS) + gl_LocalInvocationID.x;
	uint ai[ROWS], bRow = B_ROW, whole = depth / STEPS * STEPS;
	[[unroll]] for (uint i = 0; i < ROWS; i++) ai[i] = p.aBase + inner * p.aInner + outer * p.aOuter + min(row + i, p.m - 1) * p.aRow;
	uint bi = p.bBase + inner * p.bInner + outer * p.bOuter + gl_WorkGroupID.y * (WG * COLS) * p.bCol + gl_LocalInvocationID.x;
	float acc[ROWS][COLS];
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLS; j++) acc[i][j] = 0.0;
	for (uint k = 0; k < whole; k += STEPS) {
		[[unroll]] for (uint s = 0; s < STEPS; s++) ABSORB(k, STEPS - 1 - s)
	}
	[[dont_unroll]] for (uint k = whole; k < depth; k++) ABSORB(k, 0)

	if (p.bias != 0) {
		[[unroll]] for (uint j = 0; j < COLS; j++) {
			float add = bias[p.biasBase + min(column + WG * j, p.n - 1)];
			[[unroll]] for (uint i = 0; i < ROWS; i++) acc[i][j] += add;
		}
	}
	uint ci = p.cBase + inner * p.cInner + outer * p.cOuter + row * p.cRow;
	[[unroll]] for (uint i = 0; i < ROWS; i++) {
		[[unroll]] for (uint j = 0; j < COLS; j++) {
			uint n = column + WG * j, at = ci + i * p.cRow + n * p.cCol;
			if (row + i < p.m && n < p.n) {
				if (p.accumulate != 0) c[at] += acc[i][j];
				else c[at] = acc[i][j];
			}
		}
	}
}
