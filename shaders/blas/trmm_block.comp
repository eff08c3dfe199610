// Multiplies the diagonal blocks of a triangular matrix by rows of B: W = A·B, where what A has outside these blocks
// counts as zeros. An invocation computes STRIP rows of a block in one column. Products with zeros that A does
// not have are left out, so NaN in B reaches the rows that use it, and no others. The other triangle of A does not matter,
// and with unit neither does the diagonal.
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
#define BLOCK 32
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows; // of all blocks
	uint cols;
	uint matrices;
	uint upper; // 1: A is upper triangular
	uint unit;  // 1: the diagonal counts as ones
	uint aBase;
	uint aRow;
	uint aCol;
	uint aMatrix;
	uint bBase;
	uint bRow;
	uint bCol;
	uint bMatrix;
	uint wBase;
	uint wRow;
	uint wMatrix;
} p;

layout(set = 0, binding = 0) readonly buffer A { REAL a[]; };
layout(set = 0, binding = 1) readonly buffer B { REAL b[]; };
layout(set = 0, binding = 2) writeonly buffer W { REAL w[]; };

void main() {
	uint id = flatGroup() * WG + gl_LocalInvocationID.x, cols = p.cols, rows = p.rows, strips = (rows + STRIP - 1) / STRIP;
	uint number = id / cols, col = id - number * cols, matrix = number / strips, first = (number - matrix * strips) * STRIP;
	if (matrix >= p.matrices) return;
	uint a0 = p.aBase + matrix * p.aMatrix, b0 = p.bBase + matrix * p.bMatrix + col * p.bCol, w0 = p.wBase + matrix * p.wMatrix + col;
	uint aRow = p.aRow, aCol = p.aCol, bRow = p.bRow, wRow = p.wRow;
	bool upper = p.upper != 0, unit = p.unit != 0;
	// These columns of A have an element of the triangle in the strip.
	uint from = upper ? first : first / BLOCK * BLOCK;
	uint end = min(upper ? (first / BLOCK + 1) * BLOCK : first + STRIP, rows);
	REAL x[STRIP];
	uint at[STRIP];
	[[unroll]] for (uint r = 0; r < STRIP; r++) {
		x[r] = REAL(0);
		at[r] = a0 + min(first + r, rows - 1) * aRow;
	}
	[[dont_unroll]] for (uint j = from; j < end; j++) {
		REAL y = b[b0 + j * bRow];
		int right = int(j - first); // of the diagonal of the first row
		[[unroll]] for (int r = 0; r < STRIP; r++) {
			int side = right - r;
			bool inside = mix(side < 0, side > 0, upper), one = all(bvec2(side == 0, unit));
			inside = mix(inside, !unit, side == 0);
			x[r] += mix(mix(REAL(0), a[at[r] + j * aCol] * y, inside), y, one);
		}
	}
	[[unroll]] for (uint r = 0; r < STRIP; r++) {
		if (first + r < rows) w[w0 + (first + r) * wRow] = x[r];
	}
}
