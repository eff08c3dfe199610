// Product of a few vectors and a matrix whose rows are blocks, for CPU drivers. The rows consist of
// whole texels, or of halves of words with Q6_K. An invocation makes ROWS rows of the matrix, COLUMNS vectors at a time. All invocations
// of a workgroup use the same vectors, and one texel of them serves all rows. It reads 64 weights of a row at
// a time. A number of the block is shifted to the top of a word and back, which copies its sign.
//
//lathe:variant q4_0.one Q4_0 F32 ROWS=8 COLUMNS=1
//lathe:variant q8_0.one Q8_0 F32 ROWS=8 COLUMNS=1
//lathe:variant q4_k.one Q4_K F32 ROWS=8 COLUMNS=1
//lathe:variant q6_k.one Q6_K F32 ROWS=8 COLUMNS=1
//lathe:variant q4_0 Q4_0 F32 ROWS=2 COLUMNS=4
//lathe:variant q8_0 Q8_0 F32 ROWS=2 COLUMNS=4
//lathe:variant q4_k Q4_K F32 ROWS=2 COLUMNS=4
//lathe:variant q6_k Q6_K F32 ROWS=2 COLUMNS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define WG 8
layout(local_size_x = WG) in;
layout(push_constant) uniform Params {
	uint rows;    // of the matrix
	uint columns; // vectors
	uint steps;   // 64 weights each
	uint base;    // texel or half of the first row
	uint row;     // texels or halves from row to row
	uint xBase;
	uint xStep; // texels from vector to vector
	uint cBase;
	uint cStep; // elements from vector to vector
	uint accumulate; // 1: add to the result
} p;
layout(set = 0, binding = 0) uniform usamplerBuffer blocks;
layout(set = 0, binding = 1) uniform samplerBuffer x;
layout(set = 0, binding = 2) buffer C { float c[]; };

vec4 acc[ROWS][COLUMNS];
vec4 y[COLUMNS][16]; // 64 numbers of each vector

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
		[[unroll]] for (int q = 4 * k; q < 4 * k + 4; q++) {
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

void main() {
	uint row = gl_WorkGroupID.x * (WG * ROWS) + gl_LocalInvocationID.x, rows = p.rows;
	uint column = gl_WorkGroupID.y * COLUMNS, columns = p.columns;
	int at[ROWS], from[COLUMNS], steps = int(p.steps);
	[[unroll]] for (uint i = 0; i < ROWS; i++) at[i] = int(p.base + min(row + WG * i, rows - 1u) * p.row);
	[[unroll]] for (uint j = 0; j < COLUMNS; j++) from[j] = int(p.xBase + min(column + j, columns - 1u) * p.xStep);
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLUMNS; j++) acc[i][j] = vec4(0.0);
	[[dont_unroll]] for (int s = 0; s < steps; s++) {
		[[unroll]] for (uint j = 0; j < COLUMNS; j++)
			[[unroll]] for (int u = 0; u < 16; u++) y[j][u] = texelFetch(x, from[j] + 16 * s + u);
		[[unroll]] for (uint i = 0; i < ROWS; i++) absorb(i, at[i] + TEXEL_OF(s), TURN_OF(s));
	}
	uint to = p.cBase + row + column * p.cStep, step = p.cStep, accumulate = p.accumulate;
	[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
		float sum = (acc[i][j].x + acc[i][j].y) + (acc[i][j].z + acc[i][j].w);
		if (row + WG * i < rows && column + j < columns) {
			uint own = to + WG * i + j * step;
			if (accumulate != 0u) c[own] += sum;
			else c[own] = sum;
		}
	}
}
