// Matrix product by tiles in shared memory: a workgroup of 8×8 invocations makes
// TILE × TILE elements, DEPTH of k at a time, each invocation SIDE × SIDE of them
// in registers. Operands may have any strides; what lies outside of them counts
// as zeros. The result is in the arithmetic's type, and with WIDE_A so is A.
//
//lathe:variant f32 F32 SIDE=8
//lathe:variant f16 F16 SIDE=8
//lathe:variant bf16 BF16 SIDE=8
//lathe:variant f16.wide F16 SIDE=8 WIDE_A
//lathe:variant bf16.wide BF16 SIDE=8 WIDE_A
//lathe:variant f64 F64 SIDE=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/gemm.glsl"

#define WG 64
#define TILE (8 * SIDE)
#define DEPTH 8
layout(local_size_x = WG) in;

#if BITS == 64
#define WORD uvec2
#else
#define WORD uint
#endif
layout(set = 0, binding = 0) readonly buffer A { WORD a[]; };
layout(set = 0, binding = 1) readonly buffer B { WORD b[]; };
layout(set = 0, binding = 2) readonly buffer Bias { WORD bias[]; };
layout(set = 0, binding = 3) buffer C { REAL c[]; };

#if BITS == 64
#define ELEMENT(name, e) packDouble2x32(name[e])
#elif BITS == 32
#define ELEMENT(name, e) uintBitsToFloat(name[e])
#else
#define ELEMENT(name, e) WIDEN(uvec4((name[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif

#if defined(WIDE_A)
#define ELEMENT_A(e) uintBitsToFloat(a[e])
#else
#define ELEMENT_A(e) ELEMENT(a, e)
#endif

shared REAL x[DEPTH][TILE];
shared REAL y[DEPTH][TILE];

void main() {
	uint inner, outer, depth;
	locate(inner, outer, depth);
	uint me = gl_LocalInvocationID.x;
	uint row = gl_WorkGroupID.y * TILE, column = gl_WorkGroupID.x * TILE;
	uint a0 = p.aBase + inner * p.aInner + outer * p.aOuter;
	uint b0 = p.bBase + inner * p.bInner + outer * p.bOuter;
	// Neighbouring invocations load neighbouring elements, whichever way they lie.
	bool along = p.aCol == 1, across = p.bCol == 1;
	REAL acc[SIDE][SIDE];
	[[unroll]] for (uint i = 0; i < SIDE; i++) [[unroll]] for (uint j = 0; j < SIDE; j++) acc[i][j] = REAL(0);
	for (uint k0 = 0; k0 < depth; k0 += DEPTH) {
		[[unroll]] for (uint t = 0; t < TILE * DEPTH / WG; t++) {
			uint u = t * WG + me;
			uint k = mix(u / TILE, u % DEPTH, along), i = mix(u % TILE, u / DEPTH, along);
			uint e = a0 + min(row + i, p.m - 1) * p.aRow + min(k0 + k, depth - 1) * p.aCol;
			x[k][i] = mix(REAL(0), ELEMENT_A(e), all(bvec2(k0 + k < depth, row + i < p.m)));
			k = mix(u % DEPTH, u / TILE, across);
			i = mix(u / DEPTH, u % TILE, across);
			e = b0 + min(k0 + k, depth - 1) * p.bRow + min(column + i, p.n - 1) * p.bCol;
			y[k][i] = mix(REAL(0), ELEMENT(b, e), all(bvec2(k0 + k < depth, column + i < p.n)));
		}
		barrier();
		for (uint k = 0; k < DEPTH; k++) {
			REAL v[SIDE];
			[[unroll]] for (uint j = 0; j < SIDE; j++) v[j] = y[k][me % 8 + 8 * j];
			[[unroll]] for (uint i = 0; i < SIDE; i++) {
				REAL u = x[k][me / 8 + 8 * i];
				[[unroll]] for (uint j = 0; j < SIDE; j++) acc[i][j] = fma(u, v[j], acc[i][j]);
			}
		}
		barrier();
	}
	uint c0 = p.cBase + inner * p.cInner + outer * p.cOuter;
	[[unroll]] for (uint j = 0; j < SIDE; j++) {
		uint n = column + me % 8 + 8 * j;
		REAL add = REAL(0);
		if (p.bias != 0 && n < p.n) add = ELEMENT(bias, p.biasBase + n);
		[[unroll]] for (uint i = 0; i < SIDE; i++) {
			uint m = row + me / 8 + 8 * i;
			if (m < p.m && n < p.n) {
				uint at = c0 + m * p.cRow + n * p.cCol;
				if (p.accumulate != 0) c[at] += acc[i][j] + add;
				else c[at] = acc[i][j] + add;
			}
		}
	}
}
