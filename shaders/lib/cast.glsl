// Converts four elements from one type to another, as they lie in memory. Integers are first
// converted to two words in two's complement. Floating-point numbers of 16 bits are first
// converted to float. A number that is rounded twice is first rounded to odd, so that the
// second rounding is right (Boldo and Melquiond 2008).

struct Quad { uvec4 low, high; };

#if defined(FROM_U8)
#define FOUR_IN uint
#elif defined(FROM_F16) || defined(FROM_BF16) || defined(FROM_U16)
#define FOUR_IN uvec2
#elif defined(FROM_F64) || defined(FROM_I64)
#define FOUR_IN Quad
#else
#define FOUR_IN uvec4
#endif

#if defined(TO_W8) || defined(TO_BOOL)
#define FOUR_OUT uint
#define STORE_SOME(i, r, n) { uint m_ = (1u << (8 * (n))) - 1u; dst[i] = (dst[i] & ~m_) | (r & m_); }
#elif defined(TO_F16) || defined(TO_BF16) || defined(TO_W16)
#define FOUR_OUT uvec2
#define STORE_SOME(i, r, n) { \
	if (n == 1u) dst[i].x = (dst[i].x & 0xffff0000u) | (r.x & 0xffffu); else dst[i].x = r.x; \
	if (n == 3u) dst[i].y = (dst[i].y & 0xffff0000u) | (r.y & 0xffffu); \
}
#elif defined(TO_F64) || defined(TO_I64)
#define FOUR_OUT Quad
#define STORE_SOME(i, r, n) { \
	dst[i].low.xy = r.low.xy; \
	if (n > 1u) dst[i].low.zw = r.low.zw; \
	if (n > 2u) dst[i].high.xy = r.high.xy; \
}
#else
#define FOUR_OUT uvec4
#define STORE_SOME(i, r, n) { dst[i].x = r.x; if (n > 1u) dst[i].y = r.y; if (n > 2u) dst[i].z = r.z; }
#endif

#if defined(FROM_U8) || defined(FROM_U16) || defined(FROM_U32) || defined(FROM_I64)
#define FROM_INT
#endif
#if defined(TO_F32) || defined(TO_F16) || defined(TO_BF16)
#define TO_FLOAT
#endif

// What comes in, as low and high words of four elements.
#if defined(FROM_INT) || defined(FROM_F64)
void words(FOUR_IN r, bool isSigned, out uvec4 low, out uvec4 high) {
#if defined(FROM_I64) || defined(FROM_F64)
	low = uvec4(r.low.xz, r.high.xz);
	high = uvec4(r.low.yw, r.high.yw);
#else
#if defined(FROM_U8)
	low = uvec4(r, r >> 8, r >> 16, r >> 24) & 0xffu;
	low = isSigned ? (low ^ 0x80u) - 0x80u : low;
#elif defined(FROM_U16)
	low = uvec4(r.x & 0xffffu, r.x >> 16, r.y & 0xffffu, r.y >> 16);
	low = isSigned ? (low ^ 0x8000u) - 0x8000u : low;
#else
	low = r;
#endif
	high = isSigned ? uvec4(0) - (low >> 31) : uvec4(0);
#endif
}
#endif

// What goes out.
#if defined(TO_FLOAT)
FOUR_OUT ofFloats(vec4 v) {
#if defined(TO_F32)
	return floatBitsToUint(v);
#else
#if defined(TO_F16)
	uvec4 h = halfBits(v);
#else
	uvec4 h = bfloatBits(v);
#endif
	return h.xz | h.yw << 16;
#endif
}
#endif

#if defined(FROM_INT)
#include "lib/cast_int.glsl"
#else
#include "lib/cast_float.glsl"
#endif
