// The upper or the lower triangle of matrices. Elements are moved as bits, in packs of 16
// bytes. The others become zero.
//
//lathe:variant u8 BITS=8
//lathe:variant u16 F16
//lathe:variant u32 I32
//lathe:variant u64 I64
//lathe:variant u8.texel BITS=8 TEXEL
//lathe:variant u16.texel F16 TEXEL
//lathe:variant u32.texel I32 TEXEL

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"

layout(push_constant) uniform Params {
	uint count;         // elements
	uint rows, columns; // of a matrix
	uint row, column;   // of the first element
	int diagonal;       // columns to the right of the main one
	int upper;          // 1, or -1 for the lower triangle
} p;

INPUT(0, src);
OUTPUT(1, dst);

uvec4 packOf(uint i) {
	uvec4 v = FETCH(src, i);
	uint at = p.column + i * PACK, down = at / p.columns;
	uint column = at - down * p.columns, row = (p.row + down) % p.rows;
	uvec4 keep = uvec4(0);
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		int right = int(column) - int(row) - p.diagonal;
		bool kept = right * p.upper >= 0;
#if BITS == 64
		uvec4 bits = uvec4(k == 0u, k == 0u, k == 1u, k == 1u) * 0xffffffffu;
#else
		const uint each = 32 / BITS;
		uvec4 bits = uvec4(0);
		bits[k / each] = (0xffffffffu >> (32 - BITS)) << (k % each * BITS);
#endif
		keep |= mix(uvec4(0), bits, bvec4(kept));
		column++;
		bool ends = column == p.columns;
		column = mix(column, 0u, ends);
		row += mix(0u, 1u, ends);
		row = mix(row, 0u, row == p.rows);
	}
	return v & keep;
}

void main() MAP(dst, p.count, packOf)
