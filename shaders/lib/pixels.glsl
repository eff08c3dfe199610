// Pixels of an image in the native scale of its type: 0..FULL, where FULL is
// 255 for u8 and 1 for f32. A kernel handles PACK neighbouring pixels at a
// time, and indices below count such packs. Binding 0 is the source, binding 1
// the destination. The variant defines one of these:
//
//   U8          RGBA bytes, one pixel a uint
//   U8 TEXEL    RGBA bytes, four pixels a texel: what a CPU driver likes, whose
//               loads cost by instruction and not by byte
//   U8 FETCH    RGBA bytes, one pixel a uint, loaded as a part of a texel, for CPU drivers
//   F32         p.channels floats a pixel: 1, 3 or 4
//   F32 TEXEL   four floats a pixel
//
// A kernel between two passes defines SRC_MID or DST_MID: that side of a u8 image
// then holds colours of 11 bits in a pixel's uint, and no alpha. MID scales them
// to 0..FULL. There is no room for the last bit of blue: it is that of red. With
// SRC_WIDE or DST_WIDE that side holds vec4, a pixel each, and PACK is of the other. With DST_READ the kernel reads it too.
// With SRC_SUM and SRC_WIDE, or DST_SUM, it holds floats as the kernel likes, and it reads DST_SUM too.
// The including file declares the push constants as `p` first.

// HALF is added before a store, which rounds down, so that the result is rounded to nearest.
#if defined(U8)
const bool BYTES = true;
const float FULL = 255.0;
const float HALF = 0.5;
const float MID = 255.0 / 2047.0;
#else
const bool BYTES = false;
const float FULL = 1.0;
const float HALF = 0.0;
const float MID = 1.0;
#endif

#include "lib/pixel_buffers.glsl"

#if defined(U8)
const uint OPAQUE = 0xff000000u;
#else
const float OPAQUE = 1.0;
#endif

// A pixel's colour, and its alpha as it is stored.
struct Pixel {
	vec3 rgb;
#if defined(U8)
	uint alpha;
#else
	float alpha;
#endif
};

#if defined(U8)
// Signed conversions throughout: CPU drivers emulate the unsigned ones.

Pixel unpackPixel(uint v) {
#if !defined(TEXEL)
	// Shifting a vector by a constant takes a processor four instructions, and multiplying
	// by a power of two takes one.
	return Pixel(vec3(ivec3(v & 0xffu, v & 0xff00u, v & 0xff0000u)) * vec3(1.0, 1.0 / 256.0, 1.0 / 65536.0), v & 0xff000000u);
#else
	return Pixel(vec3(ivec3(v & 0xffu, (v >> 8) & 0xffu, (v >> 16) & 0xffu)), v & 0xff000000u);
#endif
}

// midLevels are the levels in which components of 0..2047, HALF added, are kept
// between two passes: rounded down, and blue to the nearest that has red's last
// bit. Where the two are equal so are their levels, and grey remains grey.
uvec3 midLevels(vec3 x) {
	uvec3 c = uvec3(ivec3(x));
	uint odd = c.r & 1u;
	c.b = 2 * min(uint(int(fma(x.b, 0.5, mix(0.25, -0.25, odd != 0u)))), 1023u) + odd;
	return c;
}

// packPixel rounds down. The caller adds HALF to round to nearest. Components must be within
// range.
uint packPixel(Pixel x) {
#if defined(DST_MID)
	uvec3 c = midLevels(x.rgb);
	return c.r | (c.g << 11) | ((c.b >> 1) << 22);
#elif !defined(TEXEL)
	// Floats hold the three levels exactly, so that one conversion is enough.
	vec3 c = floor(x.rgb);
	return uint(int(c.r + 256.0 * c.g + 65536.0 * c.b)) | x.alpha;
#else
	uvec3 c = uvec3(ivec3(x.rgb));
	return c.r | (c.g << 8) | (c.b << 16) | x.alpha;
#endif
}
#endif

// placed is the colour of a pixel with each component where it lies in the word:
// PLACE times its value, a power of two, which saves shifts and changes no sum.
#if defined(SRC_MID) && defined(U8)
const vec3 PLACE = vec3(1.0, 2048.0, 1.0);
vec3 placed(uint v) { return vec3(ivec3(v & 0x7ffu, v & 0x3ff800u, ((v >> 21) & 0x7feu) | (v & 1u))); }
#elif defined(U8)
const vec3 PLACE = vec3(1.0, 256.0, 65536.0);
vec3 placed(uint v) { return vec3(ivec3(v & 0xffu, v & 0xff00u, v & 0xff0000u)); }
#else
const vec3 PLACE = vec3(1.0);
#endif

RAW fetchPack(uint i) {
#if defined(TEXEL)
	return texelFetch(src, int(i));
#elif defined(U8) && defined(FETCH)
	uvec4 v = texelFetch(src, int(i >> 2));
	v.xy = mix(v.xy, v.zw, bvec2((i & 2u) != 0u));
	return mix(v.x, v.y, (i & 1u) != 0u);
#elif defined(U8) || defined(SRC_WIDE)
	return src[i];
#else
	uint o = i * p.channels;
	if (p.channels == 1) return vec4(vec3(src[o]), FULL);
	return vec4(src[o], src[o + 1], src[o + 2], p.channels == 4 ? src[o + 3] : FULL);
#endif
}

#if defined(SRC_WIDE)
// Its pixels are what they are for the kernel alone.
#elif defined(U8) && defined(TEXEL)
uint wordOf(RAW v, uint k) { return v[k]; }
#elif defined(U8)
uint wordOf(RAW v, uint k) { return v; }
#endif

#if !defined(SRC_WIDE)
Pixel pixelOf(RAW v, uint k) {
#if defined(U8)
	return unpackPixel(wordOf(v, k));
#else
	return Pixel(v.rgb, v.a);
#endif
}
#endif

// weightOf is a pixel's alpha as a number from 0 to 1.
float weightOf(Pixel x) {
#if defined(U8)
	return mix(float(int(x.alpha >> 24)) / FULL, 1.0, x.alpha == OPAQUE);
#else
	return x.alpha;
#endif
}

#include "lib/pixel_store.glsl"

// ITU-R BT.601 luma.
const vec3 BT601 = vec3(0.299, 0.587, 0.114);
float luma(vec3 c) { return dot(c, BT601); }
