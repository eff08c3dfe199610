// Convolution of f16 as a matrix product without its matrix, by cooperative matrices, see
// lib/gemm_coop.glsl and nn/conv_product.comp. A filter whose rows are whole packs is read by the
// pack. The input is gathered by elements.
//
//lathe:variant f16.m16.s32 F16 EDGE=16 SIDE=4 LANES=32
//lathe:variant f16.m16.s32.apart F16 EDGE=16 SIDE=4 LANES=32 APART
//lathe:variant f16.m16.s64 F16 EDGE=16 SIDE=4 LANES=64
//lathe:variant f16.m16.s64.apart F16 EDGE=16 SIDE=4 LANES=64 APART
//lathe:variant f16.m8.s8 F16 EDGE=8 SIDE=2 LANES=8
//lathe:variant f16.m8.s8.apart F16 EDGE=8 SIDE=2 LANES=8 APART
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_NV_cooperative_matrix : require

#define WORD_B uint
#include "lib/dtype.glsl"
#include "lib/conv_product.glsl"
#include "lib/gemm_packs.glsl"

#define LOCATE \
	uint parts = p.partsFlip & 0xffffu, g = gl_WorkGroupID.z / parts, part = gl_WorkGroupID.z - g * parts, from = part * p.k; \
	depth = from < p.kAll ? min(p.k, p.kAll - from) : 0;

// Packs of the filter lie along k where its taps and channels follow each other. The packs of B
// that an invocation loads lie in the same eight columns.
#define BEGIN \
	uint a0 = p.aBase + g * p.aG, flip = p.partsFlip >> 16; \
	bool aAlong = flip == 0 && (p.aC == p.taps || p.kAll == p.taps), aWhole = ((a0 | p.aRow) & 7u) == 0; \
	const bool bAlong = false; \
	Taps taps = tapsOf(); \
	Column columns[8]; \
	[[unroll]] for (uint j = 0; j < 8; j++) columns[j] = columnOf(min(column + place(0, false).y + j, p.n - 1), g);

#define LOAD_A(made, k) \
	if (aAlong) { \
		LOAD(made, a, true, aWhole, k, row, p.m, a0 + from, 1, p.aRow) \
	} else { \
		[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { \
			uvec2 at_ = place(t_, false) + uvec2(k, row); \
			uint f_ = from + at_.x, c_ = quotient(f_, taps.perAll), e_ = a0 + c_ * p.aC + (f_ - c_ * taps.all) * (1 - 2 * flip); \
			uvec4 r_ = uvec4(0); \
			for (uint j_ = 0; j_ < 8; j_++) { \
				if (all(lessThan(at_ + uvec2(0, j_), uvec2(depth, p.m)))) { \
					uint i_ = e_ + (at_.y + j_) * p.aRow; \
					r_[j_ / 2] |= wordOf(a[i_ / 8], i_) << (j_ & 1u) * 16; \
				} \
			} \
			made[t_] = r_; \
		} \
	}

#define LOAD_B(made, k) \
	[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { \
		uint k_ = (k) + place(t_, false).x; \
		Offset tap_ = offsetOf(taps, from + min(k_, depth - 1)); \
		uvec4 r_ = uvec4(0); \
		[[unroll]] for (uint j_ = 0; j_ < 8; j_++) { \
			bool inside_; \
			uint e_ = elementAt(columns[j_], tap_, inside_), h_ = b[e_ / 2] >> e_ % 2 * 16 & 0xffffu; \
			r_[j_ / 2] |= mix(0u, h_, all(bvec2(inside_, k_ < depth))) << (j_ & 1u) * 16; \
		} \
		made[t_] = r_; \
	}

#define END \
	uint c0 = p.outBase + gl_WorkGroupID.z * p.outG, to[SIDE]; \
	[[unroll]] for (uint j = 0; j < SIDE; j++) { \
		uint image = COLUMN(j) / p.pixels; \
		to[j] = c0 + image * p.outB + COLUMN(j) - image * p.pixels; \
	}
#define PUT(m, n, j, sum) { \
	uint bias_ = p.biasBase + g * p.m + m, at = to[j] + m * p.outK; \
	if (p.biasBase < 0xfffffffeu && part == 0) sum += WIDEN(uvec4(bias[bias_ / 2] >> bias_ % 2 * 16 & 0xffffu)).x; \
	if (p.biasBase == 0xfffffffeu) c[at] += sum; \
	else c[at] = sum; \
}

#include "lib/gemm_coop.glsl"
