// Multiplies cooperative matrices of EDGE × EDGE × EDGE as fast as a kernel can: the
// ceiling of matrix products in f16. Four subgroups of LANES invocations each have
// four sums that depend on nothing but themselves, and take factors in turns, so that
// no compiler finds the same product twice. A subgroup makes 2·EDGE³·4·256 operations,
// and four products add 1, 2, 3 and 4 to each element of a sum.
//
//lathe:variant f16.m16.s32 EDGE=16 LANES=32
//lathe:variant f16.m16.s64 EDGE=16 LANES=64
//lathe:variant f16.m8.s8 EDGE=8 LANES=8
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_NV_cooperative_matrix : require

#define CHAINS 4
#define STEPS 256
#define SIZE (EDGE * EDGE)

layout(local_size_x = 4 * LANES) in;

// The types of factors and sums differ by these, for spv.Cooperative.
layout(constant_id = 0) const uint M = EDGE;
layout(constant_id = 1) const uint N = EDGE;
layout(constant_id = 2) const uint K = EDGE;

layout(push_constant) uniform Params {
	float left, right; // their product is 1/EDGE
} p;

layout(set = 0, binding = 0) writeonly buffer Dst { float dst[]; };

shared float made[4 * SIZE];

#define LEFT fcoopmatNV<16, gl_ScopeSubgroup, M, K>
#define SUM fcoopmatNV<32, gl_ScopeSubgroup, M, N>

void main() {
	LEFT a[CHAINS];
	[[unroll]] for (uint c = 0; c < CHAINS; c++) a[c] = LEFT(float16_t(p.left * float(c + 1)));
	fcoopmatNV<16, gl_ScopeSubgroup, K, N> b = fcoopmatNV<16, gl_ScopeSubgroup, K, N>(float16_t(p.right));
	SUM sum[CHAINS];
	[[unroll]] for (uint c = 0; c < CHAINS; c++) sum[c] = SUM(float(c));
	for (uint s = 0; s < STEPS; s++) {
		[[unroll]] for (uint c = 0; c < CHAINS; c++) sum[c] = coopMatMulAddNV(a[c], b, sum[c]);
		LEFT first = a[0];
		[[unroll]] for (uint c = 0; c < CHAINS - 1; c++) a[c] = a[c + 1];
		a[CHAINS - 1] = first;
	}
	coopMatStoreNV((sum[0] + sum[1]) + (sum[2] + sum[3]), made, gl_SubgroupID * SIZE, EDGE, false);
	barrier();
	for (uint e = gl_LocalInvocationIndex; e < 4 * SIZE; e += 4 * LANES) dst[gl_WorkGroupID.x * (4 * SIZE) + e] = made[e];
}
