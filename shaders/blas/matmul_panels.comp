// Copies a matrix of any strides and dtype to panels in f32 for blas/matmul_lanes: a panel is
// 16 neighbouring columns, row after row. An invocation copies STEPS elements of a column. UNIT
// is for rows without gaps.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *
//lathe:variant {f32}.unit UNIT
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"

#define WG 16
#define STEPS 16
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows; // of the source
	uint cols;
	uint srcBase; // elements
	uint srcRow;
	uint srcCol;
	uint srcInner;
	uint srcOuter;
	uint dstBase;
	uint dstPanel; // elements from panel to panel
	uint dstInner;
	uint dstOuter;
	uint inner;
	uint z;
} p;

layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { uint dst[]; };

uint element(uint e) {
#if BITS == 16
	return floatBitsToUint(WIDEN(uvec4((src[e / 2] >> (e % 2 * 16)) & 0xffffu)).x);
#else
	return src[e];
#endif
}

void main() {
	uint z = gl_WorkGroupID.z + p.z, outer = z / p.inner, inner = z - outer * p.inner;
	uint lane = gl_LocalInvocationID.x, column = gl_WorkGroupID.x * WG + lane, row = gl_WorkGroupID.y * STEPS;
#if defined(UNIT)
	uint from = p.srcBase + inner * p.srcInner + outer * p.srcOuter + column;
#else
	uint from = p.srcBase + inner * p.srcInner + outer * p.srcOuter + min(column, p.cols - 1) * p.srcCol;
#endif
	uint to = p.dstBase + inner * p.dstInner + outer * p.dstOuter + gl_WorkGroupID.x * p.dstPanel + lane;
	uint srcRow = p.srcRow, end = min(row + STEPS, p.rows);
	for (uint k = row; k < end; k++) dst[to + k * 16] = element(from + k * srcRow);
}
