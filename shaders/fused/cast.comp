// An element turned to another type, bits to bits as functions of lib/raw.glsl have them. It is the function of
// move/cast.comp: see there. Word 0 is 1 if integers have a sign. KEEP is for types whose bits are the same.
//
//lathe:dtypes f32 f16 bf16 f64 u8 u16 u32 i64
//lathe:variant keep KEEP
//lathe:variant {f16,bf16,f64,u8,u16,u32,i64}.f32 FROM_* TO_F32
//lathe:variant {f32,bf16,f64,u8,u16,u32,i64}.f16 FROM_* TO_F16
//lathe:variant {f32,f16,f64,u8,u16,u32,i64}.bf16 FROM_* TO_BF16
//lathe:variant {f32,f16,bf16,u8,u16,u32,i64}.f64 FROM_* TO_F64
//lathe:variant {f32,f16,bf16,f64}.i32 FROM_* TO_I32
//lathe:variant {f32,f16,bf16,f64}.u32 FROM_* TO_U32
//lathe:variant {u8,u16,i64}.u32 FROM_* TO_W32
//lathe:variant {f32,f16,bf16,f64,u8,u16,u32}.i64 FROM_* TO_I64
//lathe:variant {f32,f16,bf16,f64,u16,u32,i64}.u8 FROM_* TO_W8
//lathe:variant {f32,f16,bf16,f64,u8,u32,i64}.u16 FROM_* TO_W16
//lathe:variant *.bool FROM_* TO_BOOL
#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(FROM_F64) || defined(TO_F64)
#define F64
#else
#define F32
#endif
#if !defined(KEEP)
#include "lib/dtype.glsl"
#include "lib/cast.glsl"
#undef REAL
#endif
#include "lib/packs.glsl"
#define OPERANDS 1
#include "lib/raw_part.glsl"

#if defined(KEEP)
uvec2 apply(uvec2 a) { return a; }
#else
uvec2 apply(uvec2 a) {
	// One of four elements: compilers drop the others.
#if defined(FROM_U8)
	FOUR_OUT r = convert(a.x, p.words[0] != 0u);
#elif defined(FROM_F16) || defined(FROM_BF16) || defined(FROM_U16)
	FOUR_OUT r = convert(uvec2(a.x, 0u), p.words[0] != 0u);
#elif defined(FROM_F64) || defined(FROM_I64)
	FOUR_OUT r = convert(Quad(uvec4(a, 0u, 0u), uvec4(0)), p.words[0] != 0u);
#else
	FOUR_OUT r = convert(uvec4(a.x, 0u, 0u, 0u), p.words[0] != 0u);
#endif
#if defined(TO_W8) || defined(TO_BOOL)
	return uvec2(r & 0xffu, 0u);
#elif defined(TO_F16) || defined(TO_BF16) || defined(TO_W16)
	return uvec2(r.x & 0xffffu, 0u);
#elif defined(TO_F64) || defined(TO_I64)
	return r.low.xy;
#else
	return uvec2(r.x, 0u);
#endif
}
#endif
