// Softmax of rows that begin with packs, in one launch.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant * ROWS NO_MAIN
//lathe:variant {f32,f16,bf16}.texel ROWS NO_MAIN TEXEL
//lathe:variant *.subgroup ROWS NO_MAIN SUBGROUP
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 2
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/softmax.glsl"

OUTPUT(1, dst);

void main() {
	uint i = flatGroup() * WG + LOCAL;
	uint stride = LANES, lane = i & (stride - 1u), row = i / stride;
	Accumulator s = identity();
	if (row < p.outer) s = reduceChunk(row, 0, lane);
	s = gather(s, lane);
	if (row >= p.outer) return;
	REAL r = below(s.a), scale = s.b == REAL(0) ? REAL(0) : REAL(1) / s.b; // a row of −∞ becomes zeros
	uint packs = p.n / PACK, from = p.base / PACK + row * packs, steps = p.chunk, last = p.last;
	uint at = lane;
	for (uint k = 0; k < steps; k++) {
		uvec4 raw[UNROLL];
		[[unroll]] for (uint u = 0; u < UNROLL; u++) raw[u] = FETCH(src, min(from + at + u * stride, last));
		[[unroll]] for (uint u = 0; u < UNROLL; u++) {
			if (at + u * stride < packs) {
				REAL v[PACK] = unpack(raw[u]);
				[[unroll]] for (uint j = 0; j < PACK; j++) v[j] = expDown(v[j] - r) * scale;
				dst[from + at + u * stride] = repack(v);
			}
		}
		at += UNROLL * stride;
	}
}
