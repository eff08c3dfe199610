// Matrix product of f16 by cooperative matrices, see lib/gemm_coop.glsl. Operands may have any
// strides. Those that lie in whole packs along k, or across it, are read by the pack.
//
//lathe:variant f16.m16.s32 F16 EDGE=16 SIDE=4 LANES=32
//lathe:variant f16.m16.s64 F16 EDGE=16 SIDE=4 LANES=64
//lathe:variant f16.m8.s8 F16 EDGE=8 SIDE=2 LANES=8
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_NV_cooperative_matrix : require

#include "lib/dtype.glsl"
#include "lib/gemm.glsl"
#include "lib/gemm_packs.glsl"

#define LOCATE uint inner, outer; locate(inner, outer, depth);
#define BEGIN \
	uint a0 = p.aBase + inner * p.aInner + outer * p.aOuter; \
	uint b0 = p.bBase + inner * p.bInner + outer * p.bOuter; \
	bool aAlong = p.aRow != 1 || p.aCol == 1, bAlong = p.bCol != 1; \
	bool aWhole = (aAlong ? p.aCol : p.aRow) == 1 && ((a0 | (aAlong ? p.aRow : p.aCol)) & 7u) == 0; \
	bool bWhole = (bAlong ? p.bRow : p.bCol) == 1 && ((b0 | (bAlong ? p.bCol : p.bRow)) & 7u) == 0;
#define LOAD_A(made, k) LOAD(made, a, aAlong, aWhole, k, row, p.m, a0, p.aCol, p.aRow)
#define LOAD_B(made, k) LOAD(made, b, bAlong, bWhole, k, column, p.n, b0, p.bRow, p.bCol)

#define END uint c0 = p.cBase + inner * p.cInner + outer * p.cOuter;
#define PUT(m, n, j, sum) { \
	if (p.bias != 0) sum += WIDEN(uvec4(bias[(p.biasBase + n) / 2] >> (p.biasBase + n) % 2 * 16 & 0xffffu)).x; \
	uint at = c0 + m * p.cRow + n * p.cCol; \
	if (p.accumulate != 0) c[at] += sum; \
	else c[at] = sum; \
}

#include "lib/gemm_coop.glsl"
