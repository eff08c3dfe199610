// Matrix product by tiles in shared memory. Operands may have any strides. The result has the
// type of the arithmetic, and with WIDE_A so has A.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant * SIDE=8 EDGE=8
//lathe:variant {f16,bf16}.wide SIDE=8 EDGE=8 WIDE_A
//lathe:variant *.large SIDE=8 EDGE=16
//lathe:variant {f16,bf16}.wide.large SIDE=8 EDGE=16 WIDE_A
//lathe:variant f64 F64 SIDE=4 EDGE=8
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/gemm.glsl"
#include "lib/gemm_operands.glsl"

#define LOCATE uint inner, outer; locate(inner, outer, depth);
#define BEGIN \
	uint a0 = p.aBase + inner * p.aInner + outer * p.aOuter; \
	uint b0 = p.bBase + inner * p.bInner + outer * p.bOuter; \
	bool along = p.aCol == 1, across = p.bCol != 1;

#if defined(WIDE_A)
#define OF_A(e) uintBitsToFloat(a[e])
#else
#define OF_A(e) ELEMENT(a, e)
#endif
#define QUAD_A(k) uint e_ = a0 + (k) * p.aCol;
#define ELEMENT_A(i, j) OF_A(e_ + (i) * p.aRow)
#define QUAD_B(k) uint e_ = b0 + (k) * p.bRow;
#define ELEMENT_B(i, j) ELEMENT(b, e_ + (i) * p.bCol)

#define END uint c0 = p.cBase + inner * p.cInner + outer * p.cOuter;
#define COLUMN(n) REAL add = REAL(0); if (p.bias != 0 && n < p.n) add = ELEMENT(bias, p.biasBase + n);
#define PUT(m, n, sum) { \
	uint at = c0 + m * p.cRow + n * p.cCol; \
	if (p.accumulate != 0) c[at] += sum + add; \
	else c[at] = sum + add; \
}

#include "lib/gemm_tiles.glsl"
