// Matrix product for devices whose invocations are the lanes of a vector of the processor, if
// one operand is only a few vectors. Both operands have no gaps along k, and the four
// invocations of a workgroup are neighbours along it. A workgroup makes ROWS rows of one
// column: one vector of B serves all rows. The lanes are summed at the end.
//
//lathe:variant f32 F32 ROWS=8
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require

#include "lib/dtype.glsl"
#include "lib/gemm.glsl"

#define WG 4
layout(local_size_x = WG) in;

layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 3) buffer C { float c[]; };

void main() {
	uint inner, outer, depth;
	locate(inner, outer, depth);
	uint row = gl_WorkGroupID.x * ROWS, column = gl_WorkGroupID.y, lane = gl_LocalInvocationID.x;
	uint ai[ROWS];
	[[unroll]] for (uint i = 0; i < ROWS; i++) ai[i] = p.aBase + inner * p.aInner + outer * p.aOuter + min(row + i, p.m - 1) * p.aRow + lane;
	uint bi = p.bBase + inner * p.bInner + outer * p.bOuter + column * p.bCol + lane;
	float acc[ROWS];
	[[unroll]] for (uint i = 0; i < ROWS; i++) acc[i] = 0.0;
	uint whole = depth & ~3u;
	[[dont_unroll]] for (uint k = 0; k < whole; k += WG) {
		float y = b[bi + k];
		[[unroll]] for (uint i = 0; i < ROWS; i++) acc[i] += a[ai[i] + k] * y;
	}
	if (whole < depth) {
		bool in_ = whole + lane < depth;
		uint k = in_ ? whole : depth - 1 - lane;
		float y = b[bi + k];
		[[unroll]] for (uint i = 0; i < ROWS; i++) {
			float x = a[ai[i] + k];
			acc[i] += in_ ? x * y : 0.0;
		}
	}
	uint ci = p.cBase + inner * p.cInner + outer * p.cOuter + row * p.cRow + column * p.cCol;
	[[unroll]] for (uint i = 0; i < ROWS; i++) {
		float sum = acc[i] + subgroupShuffleXor(acc[i], 1u);
		sum += subgroupShuffleXor(sum, 2u);
		if (lane == 0 && row + i < p.m) {
			uint at = ci + i * p.cRow;
			if (p.bias != 0) sum += bias[p.biasBase + column];
			if (p.accumulate != 0) c[at] += sum;
			else c[at] = sum;
		}
	}
}
