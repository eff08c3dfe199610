// Loads: four elements from number quad on, one element as four (SPLAT), four elements anywhere
// (GATHER), or one element (LANES).
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 u16 u8
//lathe:variant *
//lathe:variant *.splat SPLAT
//lathe:variant *.gather GATHER
//lathe:variant {f32,f16,bf16,i32,u16,u8}.texel TEXEL
//lathe:variant {f32,f16,bf16,i32,u16,u8}.splat.texel SPLAT TEXEL
//lathe:variant {f32,f16,bf16,i32,u16,u8}.gather.texel GATHER TEXEL
//lathe:variant {f32}.lanes LANES
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/fused.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(TEXEL)
INPUT(0, src);
// wordAt and pairAt are words of a texel. CPU drivers keep what is indexed in memory.
uvec2 pairAt(uint i) {
	uvec4 t = FETCH(src, i >> 1);
	return mix(t.xy, t.zw, bvec2((i & 1u) != 0u));
}
uint wordAt(uint i) {
	uvec2 t = pairAt(i >> 1);
	return mix(t.x, t.y, (i & 1u) != 0u);
}
#elif BITS == 64
layout(set = 0, binding = 0) readonly buffer SrcBuffer { uvec2 src[]; };
#define pairAt(i) src[i]
#elif defined(SPLAT) || defined(GATHER) || defined(LANES) || defined(U8)
layout(set = 0, binding = 0) readonly buffer SrcBuffer { uint src[]; };
#define wordAt(i) src[i]
#else
layout(set = 0, binding = 0) readonly buffer SrcBuffer { RAW src[]; };
#define pairAt(i) src[i]
#endif

// The bits of element e.
#if BITS == 32
#define BITS_OF(e) wordAt(e)
#elif BITS == 16
#define BITS_OF(e) ((wordAt((e) >> 1) >> (((e) & 1u) * 16)) & 0xffffu)
#elif BITS == 8
#define BITS_OF(e) ((wordAt((e) >> 2) >> (((e) & 3u) * 8)) & 0xffu)
#endif

// fourOf gives elements of their bits.
#if defined(F32)
vec4 fourOf(uvec4 r) { return uintBitsToFloat(r); }
#elif defined(I32)
ivec4 fourOf(uvec4 r) { return ivec4(r); }
#elif defined(U8) || defined(U16)
uvec2[4] fourOf(uvec4 r) { return uvec2[4](uvec2(r.x, 0u), uvec2(r.y, 0u), uvec2(r.z, 0u), uvec2(r.w, 0u)); }
#elif BITS == 16
vec4 fourOf(uvec4 r) { return WIDEN(r); }
#elif defined(F64)
double one(uint e) { return packDouble2x32(pairAt(e)); }
#elif defined(I64)
uvec2 one(uint e) { return pairAt(e); }
#endif

#if defined(LANES)
REAL linked(const uint e) { return uintBitsToFloat(wordAt(e)); }
void main() { any_[0] = linked(0u); }
#else

#if defined(SPLAT)
FOUR linked(const uint e) {
#if BITS == 64
	REAL v = one(e);
	return FOUR(v, v, v, v);
#else
	return fourOf(uvec4(BITS_OF(e)));
#endif
}
void main() { any_[0] = linked(0u)[0]; }
#elif defined(GATHER)
FOUR linked(const uvec4 e) {
#if BITS == 64
	return FOUR(one(e.x), one(e.y), one(e.z), one(e.w));
#else
	return fourOf(uvec4(BITS_OF(e.x), BITS_OF(e.y), BITS_OF(e.z), BITS_OF(e.w)));
#endif
}
void main() { any_[0] = linked(uvec4(0))[0]; }
#else
FOUR linked(const uint quad) {
#if BITS == 64
	return FOUR(one(quad * 4), one(quad * 4 + 1), one(quad * 4 + 2), one(quad * 4 + 3));
#elif BITS == 16
	uvec2 r = pairAt(quad);
	return fourOf(uvec4(r.x & 0xffffu, r.x >> 16, r.y & 0xffffu, r.y >> 16));
#elif BITS == 8
	uint r = wordAt(quad);
	return fourOf(uvec4(r, r >> 8, r >> 16, r >> 24) & 0xffu);
#elif defined(TEXEL)
	return fourOf(FETCH(src, quad));
#else
	return fourOf(src[quad]);
#endif
}
void main() { any_[0] = linked(0u)[0]; }
#endif
#endif
