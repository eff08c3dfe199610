// Matrix product for CPU drivers where one side is at most a few vectors: both
// operands as texels along k. An invocation makes one row of C, WAYS columns at
// a time; the rows of B are the same for all invocations of a workgroup.
//
//lathe:variant f32 F32
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define WG 8
#define WAYS 4
layout(local_size_x = WG) in;

#include "lib/gemm.glsl"

layout(set = 0, binding = 0) uniform samplerBuffer a;
layout(set = 0, binding = 1) uniform samplerBuffer b;
layout(set = 0, binding = 2) uniform samplerBuffer bias;
layout(set = 0, binding = 3) buffer C { float c[]; };

void main() {
	uint inner, outer, steps;
	locate(inner, outer, steps);
	uint row = gl_WorkGroupID.x * WG + gl_LocalInvocationID.x;
	uint column = gl_WorkGroupID.y * WAYS;
	int ai = int(p.aBase + inner * p.aInner + outer * p.aOuter + min(row, p.m - 1) * p.aRow);
	int bi[WAYS];
	[[unroll]] for (uint j = 0; j < WAYS; j++)
		bi[j] = int(p.bBase + inner * p.bInner + outer * p.bOuter + min(column + j, p.n - 1) * p.bCol);
	// Lanes of k apart: short dependency chains, and a smaller error.
	vec4 acc[WAYS];
	[[unroll]] for (uint j = 0; j < WAYS; j++) acc[j] = vec4(0.0);
	for (int k = 0; k < int(steps); k++) {
		vec4 x = texelFetch(a, ai + k);
		[[unroll]] for (uint j = 0; j < WAYS; j++) acc[j] = fma(x, texelFetch(b, bi[j] + k), acc[j]);
	}
	uint ci = p.cBase + inner * p.cInner + outer * p.cOuter + row * p.cRow;
	[[unroll]] for (uint j = 0; j < WAYS; j++) {
		float sum = (acc[j].x + acc[j].y) + (acc[j].z + acc[j].w);
		uint at = ci + (column + j) * p.cCol;
		if (row < p.m && column + j < p.n) {
			if (p.accumulate != 0) c[at] += sum;
			else c[at] = sum;
		}
	}
}
