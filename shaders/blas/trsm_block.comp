// Solves A·X = W for a diagonal block of a triangular matrix, by substitution, and writes X over W. It also
// writes −X, for the product that then takes X out of the other rows. An invocation solves one column. It has
// STRIP rows in registers at a time. The other triangle of A is not read, and with unit neither is the diagonal.
//
//lathe:variant f32 F32
//lathe:variant f64 F64
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
#define STRIP 8
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows; // of the block
	uint cols;
	uint inner; // matrices of the inner level of the batch
	uint outer;
	uint upper; // 1: the last row is solved first
	uint unit;  // 1: the diagonal counts as ones
	uint aBase;
	uint aRow;
	uint aCol;
	uint aInner;
	uint aOuter;
	uint wBase;
	uint wRow;
	uint wInner;
	uint wOuter;
	uint nBase;
	uint nRow;
	uint nInner;
	uint nOuter;
} p;

layout(set = 0, binding = 0) readonly buffer A { REAL a[]; };
layout(set = 0, binding = 1) buffer W { REAL w[]; };
layout(set = 0, binding = 2) writeonly buffer Negative { REAL negative[]; };

void main() {
	uint id = flatGroup() * WG + gl_LocalInvocationID.x, cols = p.cols, rows = p.rows;
	uint matrix = id / cols, col = id - matrix * cols, outer = matrix / p.inner, inner = matrix - outer * p.inner;
	if (outer >= p.outer) return;
	uint a0 = p.aBase + inner * p.aInner + outer * p.aOuter;
	uint w0 = p.wBase + inner * p.wInner + outer * p.wOuter + col, n0 = p.nBase + inner * p.nInner + outer * p.nOuter + col;
	// Row i of the substitution is row (i ^ turn) + shift of the block: i, or rows − 1 − i.
	uint turn = p.upper != 0 ? 0xffffffffu : 0u, shift = p.upper != 0 ? rows : 0u, aRow = p.aRow, aCol = p.aCol, wRow = p.wRow, nRow = p.nRow;
	bool unit = p.unit != 0;
#define ROW(i) (((i) ^ turn) + shift)
	for (uint s = 0; s < rows; s += STRIP) {
		REAL x[STRIP];
		uint at[STRIP], row[STRIP];
		[[unroll]] for (uint r = 0; r < STRIP; r++) {
			row[r] = ROW(min(s + r, rows - 1));
			at[r] = a0 + row[r] * aRow;
			x[r] = w[w0 + row[r] * wRow];
		}
		[[dont_unroll]] for (uint j = 0; j < s; j++) {
			uint column = ROW(j) * aCol;
			REAL y = w[w0 + ROW(j) * wRow];
			[[unroll]] for (uint r = 0; r < STRIP; r++) x[r] -= a[at[r] + column] * y;
		}
		[[unroll]] for (uint r = 0; r < STRIP; r++) {
			uint column = row[r] * aCol;
			if (!unit) x[r] /= a[at[r] + column];
			[[unroll]] for (uint q = r + 1; q < STRIP; q++) x[q] -= a[at[q] + column] * x[r];
		}
		[[unroll]] for (uint r = 0; r < STRIP; r++) {
			if (s + r < rows) {
				w[w0 + row[r] * wRow] = x[r];
				negative[n0 + row[r] * nRow] = -x[r];
			}
		}
	}
}
