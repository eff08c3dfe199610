// Product of a few vectors and a matrix whose rows are blocks. A workgroup makes one element for each
// of ROWS rows of the matrix. Its invocations are neighbours along k, so that devices read neighbouring
// words together.
//
//lathe:variant q4_0 Q4_0 F32
//lathe:variant q8_0 Q8_0 F32
//lathe:variant q4_k Q4_K F32
//lathe:variant q6_k Q6_K F32
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"

#define WG 64
#define ROWS 4
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows;  // of the matrix
	uint quads; // fours of weights of a row
	uint base;  // byte of the bound window at which the first row begins
	uint row;   // bytes from row to row
	uint xBase; // fours
	uint xStep; // from vector to vector
	uint cBase; // elements
	uint cStep; // from vector to vector
	uint accumulate; // 1: add to the result
} p;

layout(set = 0, binding = 0) readonly buffer Blocks { uint words[]; };
layout(set = 0, binding = 1) readonly buffer X { vec4 x[]; };
layout(set = 0, binding = 2) buffer C { float c[]; };

#include "lib/blocks.glsl"

shared float sums[ROWS][WG];

void main() {
	uint lane = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * ROWS, xAt = p.xBase + gl_WorkGroupID.y * p.xStep;
	vec4 acc[ROWS];
	uint at[ROWS];
	[[unroll]] for (uint i = 0; i < ROWS; i++) {
		acc[i] = vec4(0.0);
		at[i] = p.base + min(first + i, p.rows - 1u) * p.row;
	}
	for (uint q = lane; q < p.quads; q += WG) {
		uint block = q / (BLOCK / 4), j = 4u * (q - block * (BLOCK / 4));
		vec4 y = x[xAt + q];
		[[unroll]] for (uint i = 0; i < ROWS; i++) acc[i] += four(at[i] + block * BYTES, j) * y;
	}
	[[unroll]] for (uint i = 0; i < ROWS; i++) sums[i][lane] = (acc[i].x + acc[i].y) + (acc[i].z + acc[i].w);
	barrier();
	for (uint n = WG / 2; n > 0u; n /= 2u) {
		if (lane < n) {
			[[unroll]] for (uint i = 0; i < ROWS; i++) sums[i][lane] += sums[i][lane + n];
		}
		barrier();
	}
	if (lane < ROWS && first + lane < p.rows) {
		uint to = p.cBase + gl_WorkGroupID.y * p.cStep + first + lane;
		if (p.accumulate != 0u) c[to] += sums[lane][0];
		else c[to] = sums[lane][0];
	}
}
