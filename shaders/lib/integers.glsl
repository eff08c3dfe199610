// lib/dtype.glsl with all integers, for kernels that read their inputs only. In its place.
//
//   U32, U64           as I32 and I64, with UNSIGNED
//   I8, U8, I16, U16   as I32: SMALL is defined, and BITS and PACK are those of the elements

#if defined(U32)
#define I32
#define UNSIGNED
#elif defined(U64)
#define I64
#define UNSIGNED
#elif defined(I8) || defined(U8)
#define I32
#define SMALL 8
#elif defined(I16) || defined(U16)
#define I32
#define SMALL 16
#endif
#include "lib/dtype.glsl"

#if defined(SMALL)
#undef BITS
#undef PACK
#define BITS SMALL
#define PACK (128 / SMALL)

// smallInt is element k of a word, with its sign if the type has one.
#if defined(I8) || defined(I16)
int smallInt(uint word, uint k) { return int(word << (32 - BITS - BITS * k)) >> (32 - BITS); }
#else
int smallInt(uint word, uint k) { return int(word << (32 - BITS - BITS * k) >> (32 - BITS)); }
#endif

REAL[PACK] smallInts(uvec4 r) {
	const uint each = 32 / BITS;
	REAL v[PACK];
	[[unroll]] for (uint i = 0; i < PACK; i++) v[i] = smallInt(r[i / each], i % each);
	return v;
}
#define unpack smallInts

// SMALL_ELEMENT is element i of a buffer of words.
#define SMALL_ELEMENT(name, i) smallInt(name[(i) / (32 / BITS)], (i) % (32 / BITS))
#endif
