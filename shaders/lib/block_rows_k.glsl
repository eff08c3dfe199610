// The part of lib/block_rows.glsl for the blocks of 256 weights: Q4_K and Q6_K.

#if defined(Q6_K)
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

#if defined(ACROSS)
#define LOW(i, at) heads[i]
#else
#define LOW(i, at) texelFetch(blocks, at)
#endif

void absorb(uint i, int block, uint quarter) {
	uvec4 head = texelFetch(blocks, block), low = LOW(i, block + 1 + 2 * int(quarter)), high = texelFetch(blocks, block + 2 + 2 * int(quarter));
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
#define HEAD_OF(row, s) row + TEXEL_OF(s) + 1 + 2 * int(TURN_OF(s))
#endif
