// The buffers of image/box_sums, and how sums become levels. A pack is a pixel, or four of a row, or four rows of a column.

#if defined(TEXEL)
#define WORDS uvec4
#define INTS ivec4
#define FLOATS vec4
const uint PACK = 4;
layout(set = 0, binding = 0) uniform usamplerBuffer src;
WORDS fetch(uint i) { return texelFetch(src, int(i)); }
#else
#define WORDS uint
#define INTS int
#define FLOATS float
const uint PACK = 1;
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
WORDS fetch(uint i) { return src[i]; }
#endif
layout(set = 0, binding = 1) writeonly buffer Dst { WORDS dst[]; };

const uint LOW = 0x00ff00ffu;

#if defined(ACROSS)
#if !defined(OPAQUE_ONLY)
#if defined(TEXEL)
layout(set = 0, binding = 2) uniform usamplerBuffer image;
#define ALPHA(i) (texelFetch(image, int(i)) & 0xff000000u)
#else
layout(set = 0, binding = 2) readonly buffer Image { uint image[]; };
#define ALPHA(i) (image[i] & 0xff000000u)
#endif
#endif

// quotient is n / d rounded to nearest. d is odd, so there are no halves.
INTS quotient(INTS n, int d, float by) {
	INTS q = INTS(FLOATS(n) * by + 0.5), rest = 2 * (n - q * d);
#if defined(TEXEL)
	return q + ivec4(greaterThan(rest, ivec4(d))) - ivec4(lessThan(rest, ivec4(-d)));
#else
	return q + int(rest > d) - int(rest < -d);
#endif
}
#endif
