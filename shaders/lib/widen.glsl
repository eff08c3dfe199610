// Turns the elements of lib/integers.glsl, of at most 32 bits, into pairs of words. Those of 64 bits are such pairs. Include after
// the parameters.

#if !defined(I64)
int[PACK] narrowInts(uvec4 r) { return unpack(r); }

// wideInts copies the sign into the upper word. Without signs, the bits of an element are all there is.
uvec2[PACK] wideInts(uvec4 r) {
	int v[PACK] = narrowInts(r);
	uint sign = mix(0u, 0xffffffffu, p.sign != 0.0), low = 0xffffffffu >> (32 - BITS) | sign;
	uvec2 w[PACK];
	[[unroll]] for (uint i = 0; i < PACK; i++) w[i] = uvec2(uint(v[i]) & low, uint(v[i] >> 31) & sign);
	return w;
}

#undef unpack
#undef REAL
#undef I32
#define unpack wideInts
#define REAL uvec2
#define I64
#endif
