// Pixels of bytes as words, and their colours as floats: a texel of four pixels, or one pixel.
// Include after lib/pixels.glsl.

#include "lib/levels.glsl"

#if defined(TEXEL)
#define WORDS uvec4
#define INTS ivec4
#define FLOATS vec4
#define STORE storeTexel
#else
#define WORDS uint
#define INTS int
#define FLOATS float
#define STORE(i, v) dst[i] = v
#endif

// colour is a colour of each pixel, in its place.
FLOATS colour(WORDS v, uint bits) { return FLOATS(INTS(v & bits)); }

WORDS levels(FLOATS v) { return WORDS(clamp(INTS(v), 0, 255)); }
