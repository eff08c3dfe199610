// Matrix product for CPU drivers. Operands are texel buffers. A texel has several columns of a
// row of B, or four numbers of a row of A along k, in f32, or two in f64. With TURNED, it has so
// many numbers of a column of A. An invocation makes ROWS rows of
// COLS texels in registers, so that one texel serves many products. There is no shared memory
// and there are no barriers. The plan packs operands that do not lie so. If k is not a multiple
// of 4, it has added zeros to both.
//
// With LANES, the eight invocations of a workgroup are a full subgroup. Each of them reads a texel of a row of its own, and all get its
// numbers by shuffles: a driver takes some sixty instructions for a texel, and one for a shuffle. These kernels have eight rows or a multiple.
//
// ADD is C += A·B, and ROWBIAS adds a number to each row. They have kernels of their own: with a branch, drivers that run both sides would
// load C and store it twice.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant {f32,f64}.row TEXEL ROWS=1 COLS=2
//lathe:variant {f32,f64}.row.add TEXEL ROWS=1 COLS=2 ADD
//lathe:variant {f16,bf16}.row TEXEL ROWS=1 COLS=1
//lathe:variant {f16,bf16}.row.add TEXEL ROWS=1 COLS=1 ADD
//lathe:variant {f32,f64}.long TEXEL ROWS=1 COLS=16
//lathe:variant {f32,f64}.long.add TEXEL ROWS=1 COLS=16 ADD
//lathe:variant {f16,bf16}.long TEXEL ROWS=1 COLS=8
//lathe:variant {f16,bf16}.long.add TEXEL ROWS=1 COLS=8 ADD
//lathe:variant {f32,f64} TEXEL ROWS=8 COLS=2
//lathe:variant {f32,f64}.add TEXEL ROWS=8 COLS=2 ADD
//lathe:variant {f32,f64}.tall TEXEL ROWS=32 COLS=2
//lathe:variant {f32,f64}.tall.add TEXEL ROWS=32 COLS=2 ADD
//lathe:variant {f32,f64}.wide TEXEL ROWS=16 COLS=4
//lathe:variant {f32,f64}.wide.add TEXEL ROWS=16 COLS=4 ADD
//lathe:variant f32.block F32 TEXEL ROWS=16 COLS=2 LANES
//lathe:variant f32.block.add F32 TEXEL ROWS=16 COLS=2 LANES ADD
//lathe:variant f32.block.bias F32 TEXEL ROWS=16 COLS=2 LANES ROWBIAS
//lathe:variant f32.narrow F32 TEXEL ROWS=16 COLS=1 LANES
//lathe:variant f32.narrow.add F32 TEXEL ROWS=16 COLS=1 LANES ADD
//lathe:variant f32.narrow.bias F32 TEXEL ROWS=16 COLS=1 LANES ROWBIAS
//lathe:variant f32.bias F32 TEXEL ROWS=8 COLS=2 ROWBIAS
//lathe:variant f32.tall.bias F32 TEXEL ROWS=32 COLS=2 ROWBIAS
//lathe:variant f32.wide.bias F32 TEXEL ROWS=16 COLS=4 ROWBIAS
//lathe:variant {f32,f64}.turned TEXEL ROWS=8 COLS=2 TURNED
//lathe:variant {f32,f64}.turned.add TEXEL ROWS=8 COLS=2 TURNED ADD
//lathe:variant {f32,f64}.tall.turned TEXEL ROWS=32 COLS=2 TURNED
//lathe:variant {f32,f64}.tall.turned.add TEXEL ROWS=32 COLS=2 TURNED ADD
//lathe:variant f32.wide.turned F32 TEXEL ROWS=16 COLS=4 TURNED
//lathe:variant f32.wide.turned.add F32 TEXEL ROWS=16 COLS=4 TURNED ADD
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#if defined(LANES)
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

#define WG 8
layout(local_size_x = WG) in;

#include "lib/dtype.glsl"
#include "lib/quads.glsl"
#include "lib/gemm.glsl"

#define PARTS (COLS * QUADS) // vectors of columns

#include "lib/gemm_steps.glsl"

OPERAND(0, a);
INPUT(1, b);
OPERAND(2, bias);
layout(set = 0, binding = 3) buffer C { VEC c[]; };

void main() {
	uint inner, outer, steps;
	locate(inner, outer, steps);
	uint column = gl_WorkGroupID.x * (WG * COLS) + gl_LocalInvocationID.x;
	uint row = gl_WorkGroupID.y * ROWS;
	int ai[FETCHES], bi[COLS], next = int(p.bRow);
	[[unroll]] for (uint i = 0; i < FETCHES; i++)
		ai[i] = int(p.aBase + inner * p.aInner + outer * p.aOuter + A_AT(i));
	[[unroll]] for (uint j = 0; j < COLS; j++)
		bi[j] = int(p.bBase + inner * p.bInner + outer * p.bOuter + min(column + WG * j, p.n - 1));

	VEC acc[ROWS][PARTS];
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < PARTS; j++) acc[i][j] = VEC(0.0);
	for (int k = 0; k < int(steps); k++) {
		VEC y[STEPS][PARTS];
		[[unroll]] for (int q = 0; q < STEPS; q++)
			[[unroll]] for (uint j = 0; j < COLS; j++) {
				uvec4 r = FETCH(b, bi[j] + (STEPS * k + q) * next);
				[[unroll]] for (uint h = 0; h < QUADS; h++) y[q][j * QUADS + h] = quad(r, h);
			}
		FOR_ROWS([[unroll]] for (uint j = 0; j < PARTS; j++) acc[i][j] = DOT(x, y, j, acc[i][j]);)
	}

#if defined(ROWBIAS)
	[[unroll]] for (uint i = 0; i < ROWS; i++) {
		uint e = p.biasBase + min(row + i, p.m - 1);
		VEC add = VEC(VECTOR(bias, int(e / STEPS))[e % STEPS]);
		[[unroll]] for (uint j = 0; j < PARTS; j++) acc[i][j] += add;
	}
#else
	if (p.bias != 0) {
		[[unroll]] for (uint j = 0; j < PARTS; j++) {
			VEC add = VECTOR(bias, int(p.biasBase + min(column + WG * (j / QUADS), p.n - 1) * QUADS + j % QUADS));
			[[unroll]] for (uint i = 0; i < ROWS; i++) acc[i][j] += add;
		}
	}
#endif
	uint ci = p.cBase + inner * p.cInner + outer * p.cOuter + row * p.cRow + column * QUADS;
	[[unroll]] for (uint i = 0; i < ROWS; i++) {
		[[unroll]] for (uint j = 0; j < PARTS; j++) {
			uint at = ci + i * p.cRow + WG * QUADS * (j / QUADS) + j % QUADS;
			if (row + i < p.m && column + WG * (j / QUADS) < p.n) {
#if defined(ADD)
				c[at] += acc[i][j];
#else
				c[at] = acc[i][j];
#endif
			}
		}
	}
}
