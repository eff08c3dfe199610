// Softmax of rows that begin with packs, in one launch.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant * ROWS NO_MAIN
//lathe:variant {f32,f16,bf16}.texel ROWS NO_MAIN TEXEL
//lathe:variant {f32}.quad ROWS NO_MAIN QUAD
//lathe:variant *.subgroup ROWS NO_MAIN SUBGROUP
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 2
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/softmax.glsl"

#if defined(QUAD)
layout(set = 0, binding = 1) buffer Dst { REAL dst[]; };

// most4 and sum4 are the largest and the sum of what the four invocations have.
REAL larger(REAL a, REAL b) { return mix(a, b, b > a); }
#define OF(x, lane) subgroupBroadcast(x, lane)
REAL most4(REAL x) { return larger(larger(OF(x, 0), OF(x, 1)), larger(OF(x, 2), OF(x, 3))); }
REAL sum4(REAL x) { return (OF(x, 0) + OF(x, 1)) + (OF(x, 2) + OF(x, 3)); }

// The exponentials are computed once: dst keeps them until their sum is known.
void main() {
	uint lane = gl_LocalInvocationID.x, row = flatGroup(), n = p.n;
	if (row >= p.outer) return;
	uint start = p.base + row * n, whole = n / STRIDE * STRIDE, begin = start + lane;
	REAL most[4] = REAL[4](-infinity(), -infinity(), -infinity(), -infinity()), sum = REAL(0);
	for (uint k = 0; k < whole; k += STRIDE) {
		[[unroll]] for (uint u = BLOCK; u > 0; u--) most[u % 4] = larger(most[u % 4], src[begin + k + 4 * (u - 1)]);
	}
	[[dont_unroll]] for (uint k = whole; k < n; k += 4) most[0] = larger(most[0], src[begin + k]);
	REAL r = below(most4(larger(larger(most[0], most[1]), larger(most[2], most[3]))));
	for (uint k = 0; k < whole; k += STRIDE) {
		REAL part[4] = REAL[4](REAL(0), REAL(0), REAL(0), REAL(0)), v[4];
		[[unroll]] for (uint g = BLOCK / 4; g > 0; g--) {
			uint first = begin + k + 16 * (g - 1);
			[[unroll]] for (uint u = 4; u > 0; u--) v[u - 1] = src[first + 4 * (u - 1)];
			[[unroll]] for (uint u = 0; u < 4; u++) {
				v[u] = expDown(v[u] - r);
				part[u] += v[u];
			}
			[[unroll]] for (uint u = 4; u > 0; u--) dst[first + 4 * (u - 1)] = v[u - 1];
		}
		sum += (part[0] + part[1]) + (part[2] + part[3]);
	}
	[[dont_unroll]] for (uint k = whole; k < n; k += 4) {
		REAL v = expDown(src[begin + k] - r);
		dst[begin + k] = v;
		sum += v;
	}
	sum = sum4(sum);
	REAL scale = sum == REAL(0) ? REAL(0) : REAL(1) / sum; // a row of −∞ becomes zeros
	for (uint k = 0; k < whole; k += STRIDE) {
		[[unroll]] for (uint u = BLOCK; u > 0; u--) dst[begin + k + 4 * (u - 1)] *= scale;
	}
	[[dont_unroll]] for (uint k = whole; k < n; k += 4) dst[begin + k] *= scale;
}
#else
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
#endif
