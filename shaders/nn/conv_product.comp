// Convolution as a matrix product without its matrix, by tiles in shared memory: the tiles of the
// filter and of the input are loaded as those of blas/matmul are, and an element of the second one
// is gathered from the input where its tap lies. The result has the type of the arithmetic. APART is
// for inputs whose elements lie apart.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant * SIDE=8 EDGE=8
//lathe:variant *.apart SIDE=8 EDGE=8 APART
//lathe:variant *.large SIDE=8 EDGE=16
//lathe:variant *.large.apart SIDE=8 EDGE=16 APART
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/conv_product.glsl"
#include "lib/gemm_operands.glsl"

REAL gathered(Column v, Offset t) {
	bool inside;
	uint e = elementAt(v, t, inside);
	return mix(REAL(0), ELEMENT(b, e), inside);
}

#define LOCATE \
	uint parts = p.partsFlip & 0xffffu, g = gl_WorkGroupID.z / parts, part = gl_WorkGroupID.z - g * parts, from = part * p.k; \
	depth = from < p.kAll ? min(p.k, p.kAll - from) : 0;

// The quads of B that an invocation loads lie in the same four columns.
#define BEGIN \
	const bool along = true, across = false; \
	uint a0 = p.aBase + g * p.aG, tapStep = 1 - 2 * (p.partsFlip >> 16); \
	Taps taps = tapsOf(); \
	Column own[4]; \
	[[unroll]] for (uint j = 0; j < 4; j++) own[j] = columnOf(min(column + 4 * (me % QUADS) + j, p.n - 1), g);

#define QUAD_A(k) uint f_ = from + (k), c_ = quotient(f_, taps.perAll), e_ = a0 + c_ * p.aC + (f_ - c_ * taps.all) * tapStep;
#define ELEMENT_A(i, j) ELEMENT(a, e_ + (i) * p.aRow)
#define QUAD_B(k) Offset tap_ = offsetOf(taps, from + (k));
#define ELEMENT_B(i, j) gathered(own[j], tap_)

#define END \
	uint c0 = p.outBase + gl_WorkGroupID.z * p.outG; \
	if (p.biasBase < 0xfffffffeu && part == 0) { \
		[[unroll]] for (uint i = 0; i < SIDE; i++) { \
			REAL add = ELEMENT(bias, p.biasBase + g * p.m + min(ROW(i), p.m - 1)); \
			[[unroll]] for (uint j = 0; j < PARTS; j++) acc[i][j] += QUAD(add); \
		} \
	}
#define COLUMN(n) uint image_ = n / p.pixels, to_ = c0 + image_ * p.outB + n - image_ * p.pixels;
#define PUT(m, n, sum) { \
	uint at = to_ + m * p.outK; \
	if (p.biasBase == 0xfffffffeu) c[at] += sum; \
	else c[at] = sum; \
}

#include "lib/gemm_tiles.glsl"
