// The largest element of each window of at most two dimensions, for CPU drivers. NaN is larger than all numbers, and of equal
// elements the first one counts, as in max_pool.comp. The tensors are [planes, i, i] and [planes, n, n], and contiguous. An
// invocation makes whole packs of the output, so it stores once for several elements, and finds the first window by divisions and
// the next ones by counting. Windows have no gaps. So a tap outside of the input may stand for the nearest one inside, which
// belongs to the same window: there are no branches.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *.texel TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
#define PACKS 4
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count;    // elements of the output
	uint n[2];     // the size of its planes
	int s[2];      // strides
	int k[2];      // taps
	int before[2]; // pads
	int i[2];      // the size of planes of the input
	uint inBase;   // where the input begins
	uint inLast;   // where its last element is
} p;

INPUT(0, src);
OUTPUT(1, dst);

REAL elementAt(uint e) {
#if BITS == 32
	uvec4 t = FETCH(src, e / 4u);
	uvec2 h = mix(t.xy, t.zw, bvec2((e & 2u) != 0u));
	return uintBitsToFloat(mix(h.x, h.y, (e & 1u) != 0u));
#else
	uvec4 t = FETCH(src, e / 8u);
	uvec2 h = mix(t.xy, t.zw, bvec2((e & 4u) != 0u));
	uint w = mix(h.x, h.y, (e & 2u) != 0u);
	return WIDEN(uvec4((w >> 16u * (e & 1u)) & 0xffffu)).x;
#endif
}

uvec4 packOf(uint i) {
	uint row = i * PACK / p.n[1], plane = row / p.n[0];
	uint x = i * PACK - row * p.n[1], y = row - plane * p.n[0], area = uint(p.i[0] * p.i[1]), at = p.inBase + plane * area;
	ivec2 first[PACK];
	uint base[PACK];
	REAL best[PACK];
	[[unroll]] for (uint q = 0; q < PACK; q++) {
		first[q] = ivec2(int(y) * p.s[0] - p.before[0], int(x) * p.s[1] - p.before[1]);
		base[q] = at;
		best[q] = -infinity();
		x++;
		bool nextRow = x == p.n[1];
		x = mix(x, 0u, nextRow);
		y += uint(nextRow);
		bool nextPlane = y == p.n[0];
		y = mix(y, 0u, nextPlane);
		at += mix(0u, area, nextPlane);
	}
	for (int r = 0; r < p.k[0]; r++) {
		for (int c = 0; c < p.k[1]; c++) {
			[[unroll]] for (uint q = 0; q < PACK; q++) {
				ivec2 tap = clamp(first[q] + ivec2(r, c), ivec2(0), ivec2(p.i[0] - 1, p.i[1] - 1));
				REAL v = elementAt(min(base[q] + uint(tap.x * p.i[1] + tap.y), p.inLast)); // the last pack may have windows beyond the last one
				best[q] = mix(best[q], v, all(bvec2(any(bvec2(v > best[q], isNaN(v))), !isNaN(best[q]))));
			}
		}
	}
	return repack(best);
}

#undef EACH
#define EACH [[dont_unroll]]
void main() {
	MAP(dst, p.count, packOf)
}
