// Product of a matrix and a vector for GPUs. The matrix is A, or with its rows and columns in
// turned places B. It is read once, in whole packs where it lies in them. By default its rows lie
// along k: a workgroup makes ROWS elements of C, and its invocations share the k of them. With
// ACROSS the matrix lies across k: neighbouring invocations have neighbouring packs of elements of
// C, and SLICES invocations share the k of one. With WIDE the vector is in f32.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant *.across ACROSS
//lathe:variant {f16,bf16}.wide WIDE
//lathe:variant {f16,bf16}.wide.across ACROSS WIDE
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/gemm.glsl"

#define WG 64
#if defined(ACROSS)
#define SLICES 4
#define PACKS (WG / SLICES)
#define AHEAD 4 // packs that an invocation loads one after the other
#define SUMS PACK
#else
#define ROWS 4
#define SUMS ROWS
#endif
layout(local_size_x = WG) in;

INPUT(0, a);
INPUT(1, b);
INPUT(2, bias);
layout(set = 0, binding = 3) buffer C { REAL c[]; };

shared REAL made[SUMS][WG];

// OF is element e of an operand in the element type.
uint wordOf(uvec4 r, uint i) { uvec2 h = mix(r.xy, r.zw, bvec2((i & 2u) != 0u)); return mix(h.x, h.y, (i & 1u) != 0u); }
#if BITS == 64
REAL valueOf(uvec4 r, uint e) { return packDouble2x32(mix(r.xy, r.zw, bvec2((e & 1u) != 0u))); }
#elif BITS == 32
REAL valueOf(uvec4 r, uint e) { return uintBitsToFloat(wordOf(r, e)); }
#else
REAL valueOf(uvec4 r, uint e) { return WIDEN(uvec4(wordOf(r, e / 2) >> (e & 1u) * 16 & 0xffffu)).x; }
#endif
#define OF(name, e) valueOf(name[(e) / PACK], e)

#if defined(WIDE)
#define OF_B(e) uintBitsToFloat(wordOf(b[(e) / 4], e))
#else
#define OF_B(e) OF(b, e)
#endif

// WHOLE_B sets y to the PACK elements from e on, which is a multiple of PACK.
#if defined(WIDE)
#define WHOLE_B(y, e) { \
	[[unroll]] for (uint h_ = 0; h_ < 2; h_++) { \
		vec4 v_ = uintBitsToFloat(b[(e) / 4 + h_]); \
		[[unroll]] for (uint j_ = 0; j_ < 4; j_++) y[4 * h_ + j_] = v_[j_]; \
	} \
}
#else
#define WHOLE_B(y, e) y = unpack(b[(e) / PACK]);
#endif

void main() {
	uint inner, outer, depth;
	locate(inner, outer, depth);
	uint lane = gl_LocalInvocationID.x;
	uint a0 = p.aBase + inner * p.aInner + outer * p.aOuter, b0 = p.bBase + inner * p.bInner + outer * p.bOuter;
	REAL sum[SUMS];
	[[unroll]] for (uint i = 0; i < SUMS; i++) sum[i] = REAL(0);
#if defined(ACROSS)
	uint row = (gl_WorkGroupID.x * PACKS + lane % PACKS) * PACK, slice = lane / PACKS, k = slice, last = p.m - 1;
	bool whole = ((a0 | p.aCol) % PACK) == 0 && row + PACK <= p.m;
	if (whole) {
		for (; k + SLICES * (AHEAD - 1) < depth; k += SLICES * AHEAD) {
			uvec4 raw[AHEAD];
			[[unroll]] for (uint u = 0; u < AHEAD; u++) raw[u] = a[(a0 + row + (k + SLICES * u) * p.aCol) / PACK];
			[[unroll]] for (uint u = 0; u < AHEAD; u++) {
				REAL x[PACK] = unpack(raw[u]), y = OF_B(b0 + (k + SLICES * u) * p.bRow);
				[[unroll]] for (uint j = 0; j < PACK; j++) sum[j] = fma(x[j], y, sum[j]);
			}
		}
	}
	for (; k < depth; k += SLICES) {
		uint at = a0 + k * p.aCol;
		REAL y = OF_B(b0 + k * p.bRow);
		[[unroll]] for (uint j = 0; j < PACK; j++) sum[j] = fma(OF(a, at + min(row + j, last)), y, sum[j]);
	}
#else
	uint row = gl_WorkGroupID.x * ROWS, last = p.m - 1;
	bool whole = p.aCol == 1 && p.bRow == 1 && ((a0 | p.aRow | b0) % PACK) == 0;
	uint k = lane * PACK;
	if (whole) {
		for (; k + PACK <= depth; k += WG * PACK) {
			uvec4 raw[ROWS];
			[[unroll]] for (uint i = 0; i < ROWS; i++) raw[i] = a[(a0 + min(row + i, last) * p.aRow + k) / PACK];
			REAL y[PACK];
			WHOLE_B(y, b0 + k)
			[[unroll]] for (uint i = 0; i < ROWS; i++) {
				REAL x[PACK] = unpack(raw[i]);
				[[unroll]] for (uint j = 0; j < PACK; j++) sum[i] = fma(x[j], y[j], sum[i]);
			}
		}
	}
	for (; k < depth; k += WG * PACK) {
		for (uint e = k; e < min(k + PACK, depth); e++) {
			REAL y = OF_B(b0 + e * p.bRow);
			[[unroll]] for (uint i = 0; i < ROWS; i++) sum[i] = fma(OF(a, a0 + min(row + i, last) * p.aRow + e * p.aCol), y, sum[i]);
		}
	}
#endif
	[[unroll]] for (uint i = 0; i < SUMS; i++) made[i][lane] = sum[i];
#if defined(ACROSS)
#define LEAST PACKS
#else
#define LEAST 1
#endif
	[[unroll]] for (uint half_ = WG / 2; half_ >= LEAST; half_ /= 2) {
		barrier();
		if (lane < half_) [[unroll]] for (uint i = 0; i < SUMS; i++) made[i][lane] += made[i][lane + half_];
	}
	barrier();
	if (lane >= LEAST) return;
	uint c0 = p.cBase + inner * p.cInner + outer * p.cOuter;
	[[unroll]] for (uint i = 0; i < SUMS; i++) {
		uint at = c0 + (row + i) * p.cRow;
		if (row + i < p.m) {
			REAL v = made[i][lane];
			if (p.bias != 0) v += OF(bias, p.biasBase + (p.bias == 2 ? row + i : 0));
			if (p.accumulate != 0) c[at] += v;
			else c[at] = v;
		}
	}
}
