// Matrix product of f16 by cooperative matrices of EDGE × EDGE × EDGE elements. A workgroup
// has four subgroups of LANES invocations. Together they make TILE × TILE elements in f32,
// DEPTH of k at a time. Each subgroup makes a quarter of them, as SIDE × SIDE matrices in
// registers. While these are multiplied, the next tiles are loaded to the other half of the
// shared memory. Operands may have any strides. Those that lie in whole packs along k, or
// across it, are read by the pack. The constants keep the types of a matrix's uses apart, for
// spv.Cooperative.
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

#define WG (4 * LANES)
#define TILE (2 * SIDE * EDGE)
#define DEPTH 16
#define PACKS (TILE * DEPTH / 8)   // of a tile
#define LOADS (PACKS / WG)         // of them to an invocation
#define ALONG (DEPTH / 8 + 1)      // packs from row to row of a tile in packs along k,
#define ACROSS (TILE / 8 + 1)      // and across it: one more than needed, so that rows begin in different banks
#define ROOM (TILE * ALONG)
layout(local_size_x = WG) in;

layout(constant_id = 0) const uint M = EDGE;
layout(constant_id = 1) const uint N = EDGE;
layout(constant_id = 2) const uint K = EDGE;

layout(set = 0, binding = 0) readonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) readonly buffer B { uvec4 b[]; };
layout(set = 0, binding = 2) readonly buffer Bias { uint bias[]; };
layout(set = 0, binding = 3) buffer C { float c[]; };

shared uvec4 x[2][ROOM];
shared uvec4 y[2][ROOM];
shared float made[4 * EDGE * EDGE];

// place is the step of k and the place across of the first element of pack t.
uvec2 place(uint t, bool along) {
	uint u = t * WG + gl_LocalInvocationID.x;
	return mix(uvec2(u / (TILE / 8), u % (TILE / 8) * 8), uvec2(u % (DEPTH / 8) * 8, u / (DEPTH / 8)), bvec2(along));
}

uint wordOf(uvec4 r, uint e) {
	uvec2 h = (e & 4u) != 0u ? r.zw : r.xy;
	return ((e & 2u) != 0u ? h.y : h.x) >> (e & 1u) * 16 & 0xffffu;
}

// LOAD loads the packs of a tile that belong to this invocation. Elements outside of the
// operand are zeros.
#define LOAD(made, name, along, whole, k, first, count, base, kStep, step_) \
	[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { \
		uvec2 at_ = place(t_, along) + uvec2(k, first), n_ = uvec2(along ? 8 : 1, along ? 1 : 8); \
		uint e_ = (base) + at_.x * (kStep) + at_.y * (step_); \
		if (whole && all(lessThanEqual(at_ + n_, uvec2(depth, count)))) { \
			made[t_] = name[e_ / 8]; \
		} else { \
			uvec4 r_ = uvec4(0); \
			for (uint j_ = 0; j_ < 8; j_++) { \
				uvec2 i_ = at_ + j_ * min(n_ - 1, uvec2(1)); \
				if (all(lessThan(i_, uvec2(depth, count)))) { \
					uint f_ = (base) + i_.x * (kStep) + i_.y * (step_); \
					r_[j_ / 2] |= wordOf(name[f_ / 8], f_) << (j_ & 1u) * 16; \
				} \
			} \
			made[t_] = r_; \
		} \
	}
#define KEEP(tile, made, along) \
	[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { \
		uvec2 at_ = place(t_, along); \
		tile[along ? at_.y * ALONG + at_.x / 8 : at_.x * ACROSS + at_.y / 8] = made[t_]; \
	}
#define LOAD_BOTH(k) { \
	LOAD(nextX, a, aAlong, aWhole, k, row, p.m, a0, p.aCol, p.aRow) \
	LOAD(nextY, b, bAlong, bWhole, k, column, p.n, b0, p.bRow, p.bCol) \
}
#define KEEP_BOTH(half_) { KEEP(x[half_], nextX, aAlong) KEEP(y[half_], nextY, bAlong) }

#define LEFT fcoopmatNV<16, gl_ScopeSubgroup, M, K>
#define RIGHT fcoopmatNV<16, gl_ScopeSubgroup, K, N>
#define SUM fcoopmatNV<32, gl_ScopeSubgroup, M, N>

void main() {
	uint inner, outer, depth;
	locate(inner, outer, depth);
	uint row = gl_WorkGroupID.y * TILE, column = gl_WorkGroupID.x * TILE;
	uint a0 = p.aBase + inner * p.aInner + outer * p.aOuter;
	uint b0 = p.bBase + inner * p.bInner + outer * p.bOuter;
	bool aAlong = p.aRow != 1 || p.aCol == 1, bAlong = p.bCol != 1;
	bool aWhole = (aAlong ? p.aCol : p.aRow) == 1 && ((a0 | (aAlong ? p.aRow : p.aCol)) & 7u) == 0;
	bool bWhole = (bAlong ? p.bRow : p.bCol) == 1 && ((b0 | (bAlong ? p.bCol : p.bRow)) & 7u) == 0;
	uvec4 nextX[LOADS], nextY[LOADS];
	SUM acc[SIDE][SIDE];
	[[unroll]] for (uint i = 0; i < SIDE; i++) [[unroll]] for (uint j = 0; j < SIDE; j++) acc[i][j] = SUM(0.0);
	uint top = gl_SubgroupID / 2 * (SIDE * EDGE), left = gl_SubgroupID % 2 * (SIDE * EDGE);
	if (depth > 0) {
		LOAD_BOTH(0)
		KEEP_BOTH(0)
	}
	barrier();
	uint now = 0;
	for (uint k0 = 0; k0 < depth; k0 += DEPTH) {
		bool more = k0 + DEPTH < depth;
		if (more) LOAD_BOTH(k0 + DEPTH)
		[[unroll]] for (uint k = 0; k < DEPTH; k += EDGE) {
			LEFT u[SIDE];
			[[unroll]] for (uint i = 0; i < SIDE; i++) {
				uint at = top + i * EDGE;
				if (aAlong) coopMatLoadNV(u[i], x[now], at * ALONG + k / 8, ALONG, false);
				else coopMatLoadNV(u[i], x[now], k * ACROSS + at / 8, ACROSS, true);
			}
			[[unroll]] for (uint j = 0; j < SIDE; j++) {
				uint at = left + j * EDGE;
				RIGHT v;
				if (bAlong) coopMatLoadNV(v, y[now], at * ALONG + k / 8, ALONG, true);
				else coopMatLoadNV(v, y[now], k * ACROSS + at / 8, ACROSS, false);
				[[unroll]] for (uint i = 0; i < SIDE; i++) acc[i][j] = coopMatMulAddNV(u[i], v, acc[i][j]);
			}
		}
		now = 1 - now;
		if (more) KEEP_BOTH(now)
		barrier();
	}
	uint c0 = p.cBase + inner * p.cInner + outer * p.cOuter, own = gl_SubgroupID * (EDGE * EDGE);
	[[unroll]] for (uint i = 0; i < SIDE; i++) [[unroll]] for (uint j = 0; j < SIDE; j++) {
		coopMatStoreNV(acc[i][j], made, own, EDGE, false);
		barrier();
		[[unroll]] for (uint t = 0; t < EDGE * EDGE / LANES; t++) {
			uint e = t * LANES + gl_SubgroupInvocationID;
			uint m = row + top + i * EDGE + e / EDGE, n = column + left + j * EDGE + e % EDGE;
			if (m < p.m && n < p.n) {
				float sum = made[own + e];
				if (p.bias != 0) sum += WIDEN(uvec4(bias[(p.biasBase + n) / 2] >> (p.biasBase + n) % 2 * 16 & 0xffffu)).x;
				uint at = c0 + m * p.cRow + n * p.cCol;
				if (p.accumulate != 0) c[at] += sum;
				else c[at] = sum;
			}
		}
		barrier();
	}
}
