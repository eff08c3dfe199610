// absorb adds the products of 64 weights of a row of blocks with the numbers y of each vector to the sums acc of that
// row. A step is 64 weights: TEXEL_OF and TURN_OF say where those of a step lie in a row.

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
		uvec4 r = texelFetch(blocks, at + t);
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
#elif defined(Q6_K)
// LOAD sets w to n words from an even address on, which lie in that many texels.
#define LOAD(w, n, texels, address) { \
	uint all_[4 * texels]; \
	[[unroll]] for (int t_ = 0; t_ < texels; t_++) { \
		uvec4 r_ = texelFetch(blocks, int((address) >> 4) + t_); \
		[[unroll]] for (int k_ = 0; k_ < 4; k_++) all_[4 * t_ + k_] = r_[k_]; \
	} \
	bool one_ = ((address) & 4u) != 0u, two_ = ((address) & 8u) != 0u, odd_ = ((address) & 2u) != 0u; \
	[[unroll]] for (int k_ = 0; k_ < n + 3; k_++) all_[k_] = mix(all_[k_], all_[k_ + 1], one_); \
	[[unroll]] for (int k_ = 0; k_ < n + 1; k_++) all_[k_] = mix(all_[k_], all_[k_ + 2], two_); \
	[[unroll]] for (int k_ = 0; k_ < n; k_++) w[k_] = mix(all_[k_], (all_[k_] >> 16) | (all_[k_ + 1] << 16), odd_); \
}

uint wordOf(uint k) {
	uvec4 t = texelFetch(blocks, int(k >> 2));
	uvec2 two = mix(t.xy, t.zw, bvec2((k & 2u) != 0u));
	return mix(two.x, two.y, (k & 1u) != 0u);
}

#define SIX(w, at) float(signedBits(w, at, 6))

// 64 weights have the low halves or the high halves of 64 bytes, two bits of each of 32 others, and four scales.
void absorb(uint i, int row, uint s) {
	uint block = 2u * uint(row) + 210u * (s >> 2), quarter = s & 3u, second = quarter & 1u, from = block + 64u * (quarter >> 1);
	uint low[16], high[8];
	LOAD(low, 16, 5, from)
	from = block + 128u + 32u * (quarter >> 1);
	LOAD(high, 8, 3, from)
	from = block + 192u + 4u * quarter;
	uint odd = (from >> 1) & 1u, own = wordOf(from >> 2), next = wordOf((from >> 2) + odd);
	own = mix(own, (own >> 16) | (next << 16), odd != 0u);
	vec2 two = unpackHalf2x16(wordOf((block + 208u) >> 2));
	float d = mix(two.x, two.y, (block & 2u) != 0u);
	[[unroll]] for (int k = 0; k < 4; k++) {
		ZERO(sum)
		[[unroll]] for (int j = 0; j < 4; j++) {
			int q = 4 * k + j;
			// Numbers from 0 to 63 stand for -32 to 31: with the upper bit turned they have a sign.
			uint w = ((low[q] >> (4u * second)) & 0x0f0f0f0fu) | (((high[q & 7] >> (4u * second + 2u * uint(q >> 3))) & 0x03030303u) << 4);
			w ^= 0x20202020u;
			ADD(sum, q, vec4(SIX(w, 0), SIX(w, 8), SIX(w, 16), SIX(w, 24)))
		}
		SCALED(i, sum, d * float(signedBits(own, 8 * k, 8)))
	}
}

#define TEXEL_OF(s) 0
#define TURN_OF(s) uint(s)
#else
// 64 weights are a quarter of a block. It has the first texel of the block and two of its own.
vec4 nibbles(uint w, uint part) { return vec4(ivec4((uvec4(w, w >> 8, w >> 16, w >> 24) >> part) & 15u)); }

void absorb(uint i, int block, uint quarter) {
	uvec4 head = texelFetch(blocks, block), low = texelFetch(blocks, block + 1 + 2 * int(quarter)), high = texelFetch(blocks, block + 2 + 2 * int(quarter));
	vec2 d = unpackHalf2x16(head.x);
	// Bytes 2·quarter and 2·quarter+1 of eight pairs of 6 bits. The last four have their upper bits in
	// the first eight bytes.
	uint at = (quarter & 1u) * 16u, a = head.y >> at, b = head.z >> at, rest = head.w >> at;
	bool late = quarter > 1u;
	uvec2 scales = mix(uvec2(a, a >> 8) & 63u, (uvec2(rest, rest >> 8) & 15u) | ((uvec2(a, a >> 8) & 0xc0u) >> 2), bvec2(late));
	uvec2 least = mix(uvec2(b, b >> 8) & 63u, ((uvec2(rest, rest >> 8) >> 4) & 15u) | ((uvec2(b, b >> 8) & 0xc0u) >> 2), bvec2(late));
	vec2 scale = d.x * vec2(ivec2(scales)), minus = d.y * vec2(ivec2(least));
	uint w[8] = uint[8](low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);
	[[unroll]] for (int q = 0; q < 8; q++) {
		ADD(acc[i], q, fma(vec4(scale.x), nibbles(w[q], 0u), vec4(-minus.x)))
		ADD(acc[i], q + 8, fma(vec4(scale.y), nibbles(w[q], 4u), vec4(-minus.y)))
	}
}

#define TEXEL_OF(s) ((s) >> 2) * 9
#define TURN_OF(s) uint(s) & 3u
#endif
