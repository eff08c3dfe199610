// absorb adds the products of 64 weights of a row of blocks with the numbers y of each vector to the sums acc of that
// row. A step is 64 weights: TEXEL_OF and TURN_OF say where those of a step lie in a row.
//
// With ACROSS the caller has read the texel HEAD_OF of each row to heads before. It touches every line
// of memory that the step needs, so that the processor waits for the lines of all rows together.

// ADD adds the products of four weights with numbers 4·i to 4·i+3 to a sum for each vector.
#define ADD(sum, i, weights) { \
	vec4 v_ = weights; \
	[[unroll]] for (uint j_ = 0; j_ < COLUMNS; j_++) sum[j_] = fma(v_, y[j_][i], sum[j_]); \
}

// SCALED adds the sums of a block, times its scale, to those of row i.
#define SCALED(i, sum, scale) [[unroll]] for (uint j_ = 0; j_ < COLUMNS; j_++) acc[i][j_] = fma(vec4(scale), sum[j_], acc[i][j_]);

#define ZERO(sum) vec4 sum[COLUMNS]; [[unroll]] for (uint j_ = 0; j_ < COLUMNS; j_++) sum[j_] = vec4(0.0);

// signedBits is the number with a sign that size bits of a word are, from bit at on.
#define signedBits(w, at, size) (int((w) << (32 - (at) - (size))) >> (32 - (size)))

#if defined(Q4_0) || defined(Q8_0)
// Two blocks are an odd number of words. So they begin at word turn of their first texel, where turn
// counts from 0 to 3, and is the same for all invocations.
#if defined(Q4_0)
#define TEXELS 3
#define WORDS 9
#else
#define TEXELS 5
#define WORDS 17
#endif

// byteOf is the byte of the two blocks, as its word and the first bit of it there.
#define SIGNED(at, part, size) float(signedBits(w[(at) / 4], 8 * ((at) % 4) + (part), size))
#define FOUR(at, part, size) vec4(SIGNED(at, part, size), SIGNED((at) + 1, part, size), SIGNED((at) + 2, part, size), SIGNED((at) + 3, part, size))

void absorb(uint i, int at, uint turn) {
	uint all[TEXELS * 4], w[WORDS];
	[[unroll]] for (int t = 0; t < TEXELS; t++) {
#if defined(ACROSS)
		uvec4 r = t == 0 ? heads[i] : texelFetch(blocks, at + t);
#else
		uvec4 r = texelFetch(blocks, at + t);
#endif
		[[unroll]] for (int k = 0; k < 4; k++) all[4 * t + k] = r[k];
	}
	bool one = (turn & 1u) != 0u, two = (turn & 2u) != 0u;
	[[unroll]] for (int k = 0; k < WORDS + 2; k++) all[k] = mix(all[k], all[k + 1], one);
	[[unroll]] for (int k = 0; k < WORDS; k++) w[k] = mix(all[k], all[k + 2], two);
#if defined(Q4_0)
	float first = unpackHalf2x16(w[0]).x, second = unpackHalf2x16(w[4]).y;
	// Numbers from 0 to 15 stand for -8 to 7: with the upper bit turned they have a sign.
	[[unroll]] for (int k = 0; k < WORDS; k++) w[k] ^= 0x88888888u;
	ZERO(a)
	[[unroll]] for (int q = 0; q < 4; q++) {
		ADD(a, q, FOUR(2 + 4 * q, 0, 4))
		ADD(a, q + 4, FOUR(2 + 4 * q, 4, 4))
	}
	SCALED(i, a, first)
	ZERO(b)
	[[unroll]] for (int q = 0; q < 4; q++) {
		ADD(b, q + 8, FOUR(20 + 4 * q, 0, 4))
		ADD(b, q + 12, FOUR(20 + 4 * q, 4, 4))
	}
	SCALED(i, b, second)
#else
	float first = unpackHalf2x16(w[0]).x, second = unpackHalf2x16(w[8]).y;
	ZERO(a)
	[[unroll]] for (int q = 0; q < 8; q++) ADD(a, q, FOUR(2 + 4 * q, 0, 8))
	SCALED(i, a, first)
	ZERO(b)
	[[unroll]] for (int q = 0; q < 8; q++) ADD(b, q + 8, FOUR(36 + 4 * q, 0, 8))
	SCALED(i, b, second)
#endif
}

#define TEXEL_OF(s) (int((s) * WORDS) >> 2)
#define TURN_OF(s) uint((s) * WORDS) & 3u
#define HEAD_OF(row, s) row + TEXEL_OF(s)
#else
#include "lib/block_rows_k.glsl"
#endif
