// Joins what attention_few wrote for the ranges of keys that a row sees: brings them to the largest score, and divides by the sum of the weights. A row that sees no key, or whose
// keys are all masked, is zeros. An invocation makes a pack.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/math.glsl"
#include "lib/grid.glsl"
#include "lib/attention_few.glsl"

#define WG 64
#define PACKS 1
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count, column, row; // elements, and where the first one is
	uint width, height;      // elements of a row, queries of a matrix
	uint keys, chunk, flags, lengthBase, lengthEach, allRows; // as in attention_few
} p;

layout(set = 0, binding = 1) readonly buffer Parts { REAL parts[]; };
OUTPUT(2, dst);

uvec4 packOf(uint i) {
	uint wide = (p.width + PACK - 1u) / PACK * PACK, stats = (p.keys + p.chunk - 1u) / p.chunk * p.allRows * wide;
	REAL v[PACK];
	[[dont_unroll]] for (uint e = 0; e < PACK; e++) {
		uint at = p.column + min(i * PACK + e, p.count - 1u), down = at / p.width, c = at - down * p.width, row = p.row + down, matrix = row / p.height;
		uint seen = seenBy(matrix, row - matrix * p.height, p.height, p.keys, p.flags, p.lengthBase, p.lengthEach);
		REAL most = -infinity(), total = REAL(0), sum = REAL(0);
		for (uint r = 0, k = 0; k < seen; r++, k += p.chunk) {
			uint part = r * p.allRows + row;
			REAL m = parts[stats + 2u * part], top = mix(most, m, m > most), below = mix(top, REAL(0), top == -infinity());
			REAL before = expDown(most - below), now = expDown(m - below);
			sum = sum * before + parts[part * wide + c] * now;
			total = total * before + parts[stats + 2u * part + 1u] * now;
			most = top;
		}
		v[e] = mix(sum / total, REAL(0), total == REAL(0));
	}
	return repack(v);
}

void main() {
	MAP(dst, p.count, packOf)
}
