// Norms of rows that begin with packs, in one launch. The including file says
// REALS.
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

#define EPSILON
#include "lib/norm_stat.glsl"
#include "lib/norm.glsl"

INPUT(1, affine);
OUTPUT(2, dst);

void main() {
	uint i = flatGroup() * WG + LOCAL;
	uint stride = LANES, lane = i & (stride - 1u), row = i / stride;
	State s = identity();
	if (row < p.outer) s = foldChunk(row, 0, lane);
	s = gather(s, lane);
	if (row >= p.outer) return;
	REAL scale = scaleOf(s, p.n);
	uint packs = p.n / PACK, from = p.base / PACK + row * packs, steps = p.chunk, last = p.last;
	uint at = lane;
	for (uint k = 0; k < steps; k++) {
		uvec4 raw[UNROLL], both[UNROLL * AFFINE_PACKS];
		[[unroll]] for (uint u = 0; u < UNROLL; u++) raw[u] = FETCH(src, min(from + at + u * stride, last));
		[[unroll]] for (uint u = 0; u < UNROLL; u++) {
			uint column = min(at + u * stride, packs - 1) * AFFINE_PACKS;
			[[unroll]] for (uint a = 0; a < AFFINE_PACKS; a++) both[u * AFFINE_PACKS + a] = FETCH(affine, column + a);
		}
		[[unroll]] for (uint u = 0; u < UNROLL; u++) {
			if (at + u * stride < packs) {
				REAL v[PACK] = unpack(raw[u]);
				[[unroll]] for (uint j = 0; j < PACK; j++) {
					uvec4 t = both[u * AFFINE_PACKS + j / PAIRS];
					v[j] = CENTRED(v[j], s) * scale * PAIR_SCALE(t, j) + PAIR_SHIFT(t, j);
				}
				dst[from + at + u * stride] = repack(v);
			}
		}
		at += UNROLL * stride;
	}
}
