// Norms of rows that begin with packs, in one launch. The including file says
// REALS.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant * ROWS NO_MAIN
//lathe:variant {f32,f16,bf16}.texel ROWS NO_MAIN TEXEL
//lathe:variant {f32}.quad ROWS NO_MAIN QUAD
//lathe:variant *.subgroup ROWS NO_MAIN SUBGROUP

#define EPSILON
#include "lib/norm_stat.glsl"
#include "lib/norm.glsl"

#if defined(QUAD)
// The weights and offsets are two buffers. carry is 1 if there are weights, and 2 more if there
// are offsets.
layout(set = 0, binding = 1) readonly buffer Gamma { REAL gamma[]; };
layout(set = 0, binding = 2) readonly buffer Beta { REAL beta[]; };
layout(set = 0, binding = 3) writeonly buffer Dst { REAL dst[]; };

// SUM adds up a value of each element e of a row, by blocks, for the four invocations together.
// Rows begin with packs, so that their length is a multiple of 4.
#define SUM(to, value) { \
	REAL sum_ = REAL(0); \
	for (uint k = 0; k < whole; k += STRIDE) { \
		REAL part_[4] = REAL[4](REAL(0), REAL(0), REAL(0), REAL(0)); \
		[[unroll]] for (uint u = BLOCK; u > 0; u--) { \
			uint e = begin + k + 4 * (u - 1); \
			part_[u % 4] += value; \
		} \
		sum_ += (part_[0] + part_[1]) + (part_[2] + part_[3]); \
	} \
	[[dont_unroll]] for (uint e = begin + whole; e < start + n; e += 4) sum_ += value; \
	to = (subgroupBroadcast(sum_, 0) + subgroupBroadcast(sum_, 1)) + (subgroupBroadcast(sum_, 2) + subgroupBroadcast(sum_, 3)); \
}

// EACH_COLUMN sets each element of a row, in column c, to a value that is computed of the norm v.
#define EACH_COLUMN(value) { \
	for (uint k = 0; k < whole; k += STRIDE) { \
		[[unroll]] for (uint g = BLOCK / 4; g > 0; g--) { \
			REAL x_[4]; \
			[[unroll]] for (uint u = 4; u > 0; u--) { \
				uint e = k + 16 * (g - 1) + 4 * (u - 1), c = lane + e; \
				REAL v = CENTRED(src[begin + e], s) * scale; \
				x_[u - 1] = value; \
			} \
			[[unroll]] for (uint u = 4; u > 0; u--) dst[begin + k + 16 * (g - 1) + 4 * (u - 1)] = x_[u - 1]; \
		} \
	} \
	[[dont_unroll]] for (uint k = whole; k < n; k += 4) { \
		uint c = lane + k; \
		REAL v = CENTRED(src[begin + k], s) * scale; \
		dst[begin + k] = value; \
	} \
}

REAL square(REAL x) { return x * x; }

// The row is read three times, because it stays in the cache: for its mean, for the squares,
// and for the results. One sum at a time takes the fewest instructions.
void main() {
	uint lane = gl_LocalInvocationID.x, row = flatGroup(), n = p.n;
	if (row >= p.outer) return;
	uint start = p.base + row * n, whole = n / STRIDE * STRIDE, begin = start + lane;
	Accumulator s = identity();
#if REALS == 4
	REAL first = src[start];
	SUM(s.a, src[e] - first)
	s.a /= REAL(n);
	s.c = REAL(n);
	s.d = first;
#endif
	REAL squares;
	SUM(squares, square(CENTRED(src[e], s)))
	SQUARES(s) = squares;
	REAL scale = scaleOf(s, n);
	if (p.carry == 3) EACH_COLUMN(v * gamma[c] + beta[c])
	else if (p.carry == 1) EACH_COLUMN(v * gamma[c])
	else if (p.carry == 2) EACH_COLUMN(v + beta[c])
	else EACH_COLUMN(v)
}
#else
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
#endif
