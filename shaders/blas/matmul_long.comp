// Product of a vector and a matrix, for devices whose invocations are the lanes of a vector of
// the processor. The four invocations of a workgroup are neighbours along n, where B has no
// gaps. A workgroup makes up to COLS vectors of one row. It reads BLOCK rows of B at a time,
// each over all of its columns: rows may be pages of memory apart.
//
//lathe:variant f32 F32
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/gemm.glsl"

#define WG 4
#define COLS 128
#define BLOCK 8
#define STEPS 4 // vectors that follow each other: the engine looks once whether a row of them is in its memory
layout(local_size_x = WG) in;

layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) buffer C { float c[]; };

// ABSORB adds the products of a block in vector j, which begins at column x.
#define ABSORB(j, x) { \
	float v[BLOCK]; \
	[[unroll]] for (uint u = 0; u < BLOCK; u++) v[u] = factor[u] * b[at + u * bRow + (x)]; \
	acc[j] += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); \
}

// FINISH writes vector j, which begins at column x, where some is true.
#define FINISH(j, x, some) { \
	uint n_ = column + (x); \
	float sum = acc[j]; \
	if (some) { \
		if (p.bias != 0) sum += bias[p.biasBase + n_]; \
		if (p.accumulate != 0) sum += c[ci + (x)]; \
		c[ci + (x)] = sum; \
	} \
}

void main() {
	uint inner, outer, depth;
	locate(inner, outer, depth);
	uint first = gl_WorkGroupID.y * (WG * COLS), left = min(p.n - first, WG * COLS), lane = gl_LocalInvocationID.x;
	uint column = first + lane, bRow = p.bRow;
	uint whole = left / WG, fast = whole / STEPS * STEPS, all = (left + WG - 1) / WG;
	uint last = min(whole * WG + lane, left - 1) - lane; // beyond n, the last column is read again
	uint ai = p.aBase + inner * p.aInner + outer * p.aOuter + gl_WorkGroupID.x * p.aRow;
	uint bi = p.bBase + inner * p.bInner + outer * p.bOuter + column;
	float acc[COLS];
	for (uint j = 0; j < all; j++) acc[j] = 0.0;
	uint k = 0;
	for (; k + BLOCK <= depth; k += BLOCK) {
		float factor[BLOCK];
		[[unroll]] for (uint u = 0; u < BLOCK; u++) factor[BLOCK - 1 - u] = a[ai + k + BLOCK - 1 - u];
		uint at = bi + k * bRow;
		for (uint j = 0; j < fast; j += STEPS)
			[[unroll]] for (uint i = 0; i < STEPS; i++) ABSORB(j + STEPS - 1 - i, (j + STEPS - 1 - i) * WG)
		for (uint j = fast; j < whole; j++) ABSORB(j, j * WG)
		if (whole < all) ABSORB(whole, last)
	}
	[[dont_unroll]] for (; k < depth; k++) {
		float factor = a[ai + k];
		uint at = bi + k * bRow;
		for (uint j = 0; j < whole; j++) acc[j] += factor * b[at + j * WG];
		if (whole < all) acc[whole] += factor * b[at + last];
	}
	uint ci = p.cBase + inner * p.cInner + outer * p.cOuter + gl_WorkGroupID.x * p.cRow + column;
	for (uint j = 0; j < whole; j++) FINISH(j, j * WG, true)
	if (whole < all) FINISH(whole, last, whole * WG + lane < left)
}
