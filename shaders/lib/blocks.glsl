// Blocks of quantised weights, as GGUF stores them: bytes in memory of words, at even addresses. The
// variant names the format. A block has BLOCK weights in BYTES bytes. The including file declares the
// words as `readonly buffer Blocks { uint words[]; }`, and lib/dtype.glsl.
//
//   q4_0  a half d, then 32 numbers of 4 bits: the low halves of 16 bytes, then the high ones
//   q8_0  a half d, then 32 signed bytes
//   q4_k  halves d and m, twelve bytes with eight pairs of 6 bits, then 4 bits for each of 256 weights
//   q6_k  4 bits and then 2 bits for each of 256 weights, 16 signed bytes of scales, a half d

#if defined(Q4_0)
#define BLOCK 32
#define BYTES 18
#elif defined(Q8_0)
#define BLOCK 32
#define BYTES 34
#elif defined(Q4_K)
#define BLOCK 256
#define BYTES 144
#elif defined(Q6_K)
#define BLOCK 256
#define BYTES 210
#endif

// wordAt is the word at an even address. It reads no word that has none of its bytes.
uint wordAt(uint at) {
	uint i = at >> 2, odd = (at >> 1) & 1u, low = words[i], high = words[i + odd];
	return mix(low, (low >> 16) | (high << 16), odd != 0u);
}

float halfAt(uint at) { return floatOfHalf(uvec4((words[at >> 2] >> (8u * (at & 2u))) & 0xffffu)).x; }

uint byteAt(uint at) { return (words[at >> 2] >> (8u * (at & 3u))) & 0xffu; }

uvec4 bytesOf(uint w) { return uvec4(w, w >> 8, w >> 16, w >> 24) & 0xffu; }

// four returns the weights j to j+3 of the block at an address. j is a multiple of 4.
vec4 four(uint at, uint j) {
#if defined(Q4_0)
	uvec4 q = bytesOf(wordAt(at + 2u + (j & 15u)) >> (4u * (j >> 4))) & 15u;
	return halfAt(at) * vec4(ivec4(q) - 8);
#elif defined(Q8_0)
	return halfAt(at) * vec4(ivec4(bytesOf(wordAt(at + 2u + j)) ^ 0x80u) - 128);
#elif defined(Q4_K)
	// Pair s of a scale and a minimum. The last four have their upper bits in the first bytes.
	uint s = j >> 5, a = byteAt(at + 4u + (s & 3u)), b = byteAt(at + 8u + (s & 3u)), c = byteAt(at + 12u + (s & 3u));
	bool late = s > 3u;
	float scale = float(int(mix(a & 63u, (c & 15u) | (a >> 6 << 4), late))), least = float(int(mix(b & 63u, (c >> 4) | (b >> 6 << 4), late)));
	uvec4 q = bytesOf(wordAt(at + 16u + (j >> 6) * 32u + (j & 31u)) >> (4u * (s & 1u))) & 15u;
	return (halfAt(at) * scale) * vec4(ivec4(q)) - halfAt(at + 2u) * least;
#else
	uint n = j >> 7, g = (j >> 5) & 3u, l = j & 31u;
	uvec4 low = bytesOf(wordAt(at + 64u * n + 32u * (g & 1u) + l) >> (4u * (g >> 1))) & 15u;
	uvec4 high = bytesOf(wordAt(at + 128u + 32u * n + l) >> (2u * g)) & 3u;
	float scale = float(int(byteAt(at + 192u + 8u * n + 2u * g + (l >> 4)) ^ 0x80u) - 128);
	return (halfAt(at + 208u) * scale) * vec4(ivec4(low | high << 4) - 32);
#endif
}
