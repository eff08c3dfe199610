// Softmax of rows that begin with packs, in one launch.
//
//lathe:variant f32 F32 ROWS NO_MAIN
//lathe:variant f32.texel F32 ROWS NO_MAIN TEXEL
//lathe:variant f32.subgroup F32 ROWS NO_MAIN SUBGROUP
//lathe:variant f16 F16 ROWS NO_MAIN
//lathe:variant f16.texel F16 ROWS NO_MAIN TEXEL
//lathe:variant f16.subgroup F16 ROWS NO_MAIN SUBGROUP
//lathe:variant bf16 BF16 ROWS NO_MAIN
//lathe:variant bf16.texel BF16 ROWS NO_MAIN TEXEL
//lathe:variant bf16.subgroup BF16 ROWS NO_MAIN SUBGROUP
//lathe:variant f64 F64 ROWS NO_MAIN
//lathe:variant f64.subgroup F64 ROWS NO_MAIN SUBGROUP
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 2
#define INPUTS 1
#include "lib/fold.glsl"
#include "lib/softmax.glsl"

OUTPUT(1, dst);

void main() {
	uint i = flatGroup() * WG + LOCAL;
	uint stride = LANES, lane = i & (stride - 1u), row = i / stride;
	State s = identity();
	if (row < p.outer) s = foldChunk(row, 0, lane);
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
