// Norms of rows that begin with packs, in one launch. The including file says
// REALS.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant * ROWS NO_MAIN
//lathe:variant {f32,f16,bf16}.texel ROWS NO_MAIN TEXEL
//lathe:variant *.subgroup ROWS NO_MAIN SUBGROUP

#define EPSILON
#include "lib/norm_stat.glsl"
#include "lib/norm.glsl"

INPUT(1, affine);
OUTPUT(2, dst);

void main() {
	uint i = flatGroup() * WG + LOCAL;
	uint stride = LANES, lane = i & (stride - 1u), row = i / stride;
	Accumulator s = identity();
	if (row < p.outer) s = reduceChunk(row, 0, lane);
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
