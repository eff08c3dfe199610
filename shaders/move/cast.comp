// Elements of one type turned to another, four an invocation. FROM_ and TO_ name
// the types; W8 and W32 stand for integers of that size, signed if the
// parameters say so, and what the result is narrowed to wraps. TEXEL variants take
// as many elements as make whole packs on both sides.
//
//lathe:variant f32.f16 FROM_F32 TO_F16
//lathe:variant f32.f16.texel FROM_F32 TO_F16 TEXEL
//lathe:variant f32.bf16 FROM_F32 TO_BF16
//lathe:variant f32.bf16.texel FROM_F32 TO_BF16 TEXEL
//lathe:variant f32.f64 FROM_F32 TO_F64
//lathe:variant f32.i32 FROM_F32 TO_I32
//lathe:variant f32.u32 FROM_F32 TO_U32
//lathe:variant f32.i64 FROM_F32 TO_I64
//lathe:variant f32.u8 FROM_F32 TO_W8
//lathe:variant f32.bool FROM_F32 TO_BOOL
//lathe:variant f16.f32 FROM_F16 TO_F32
//lathe:variant f16.f32.texel FROM_F16 TO_F32 TEXEL
//lathe:variant f16.bf16 FROM_F16 TO_BF16
//lathe:variant f16.f64 FROM_F16 TO_F64
//lathe:variant f16.i32 FROM_F16 TO_I32
//lathe:variant f16.u32 FROM_F16 TO_U32
//lathe:variant f16.i64 FROM_F16 TO_I64
//lathe:variant f16.u8 FROM_F16 TO_W8
//lathe:variant f16.bool FROM_F16 TO_BOOL
//lathe:variant bf16.f32 FROM_BF16 TO_F32
//lathe:variant bf16.f32.texel FROM_BF16 TO_F32 TEXEL
//lathe:variant bf16.f16 FROM_BF16 TO_F16
//lathe:variant bf16.f64 FROM_BF16 TO_F64
//lathe:variant bf16.i32 FROM_BF16 TO_I32
//lathe:variant bf16.u32 FROM_BF16 TO_U32
//lathe:variant bf16.i64 FROM_BF16 TO_I64
//lathe:variant bf16.u8 FROM_BF16 TO_W8
//lathe:variant bf16.bool FROM_BF16 TO_BOOL
//lathe:variant f64.f32 FROM_F64 TO_F32
//lathe:variant f64.f16 FROM_F64 TO_F16
//lathe:variant f64.bf16 FROM_F64 TO_BF16
//lathe:variant f64.i32 FROM_F64 TO_I32
//lathe:variant f64.u32 FROM_F64 TO_U32
//lathe:variant f64.i64 FROM_F64 TO_I64
//lathe:variant f64.u8 FROM_F64 TO_W8
//lathe:variant f64.bool FROM_F64 TO_BOOL
//lathe:variant u8.f32 FROM_W8 TO_F32
//lathe:variant u8.f16 FROM_W8 TO_F16
//lathe:variant u8.bf16 FROM_W8 TO_BF16
//lathe:variant u8.f64 FROM_W8 TO_F64
//lathe:variant u8.u32 FROM_W8 TO_W32
//lathe:variant u8.i64 FROM_W8 TO_I64
//lathe:variant u8.bool FROM_W8 TO_BOOL
//lathe:variant u32.f32 FROM_W32 TO_F32
//lathe:variant u32.f16 FROM_W32 TO_F16
//lathe:variant u32.bf16 FROM_W32 TO_BF16
//lathe:variant u32.f64 FROM_W32 TO_F64
//lathe:variant u32.i64 FROM_W32 TO_I64
//lathe:variant u32.u8 FROM_W32 TO_W8
//lathe:variant u32.bool FROM_W32 TO_BOOL
//lathe:variant i64.f32 FROM_I64 TO_F32
//lathe:variant i64.f16 FROM_I64 TO_F16
//lathe:variant i64.bf16 FROM_I64 TO_BF16
//lathe:variant i64.f64 FROM_I64 TO_F64
//lathe:variant i64.u32 FROM_I64 TO_W32
//lathe:variant i64.u8 FROM_I64 TO_W8
//lathe:variant i64.bool FROM_I64 TO_BOOL

#version 450
#extension GL_GOOGLE_include_directive : require
#if defined(FROM_F64) || defined(TO_F64)
#define F64
#else
#define F32
#endif
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/cast.glsl"

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count;    // elements
	uint isSigned; // integers of type W8 and W32
} p;

#if defined(TEXEL)
// Of the two types one has 16 bits and the other 32: eight elements.
layout(set = 0, binding = 0) uniform usamplerBuffer src;
layout(set = 0, binding = 1) buffer DstBuffer { uvec4 dst[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i * 8 >= p.count) return;
	uint n = p.count - i * 8, end = p.count - 1;
#if defined(FROM_F32)
	uvec2 low = convert(texelFetch(src, int(i * 2)), false);
	uvec2 high = convert(texelFetch(src, int(min(i * 2 + 1, end / 4))), false);
	uvec4 made = uvec4(low, high);
	if (n >= 8) dst[i] = made;
	n = n < 8 ? n : 0;
	uint pack = i, bits = n * 16;
#else
	uvec4 both = texelFetch(src, int(i));
	uvec4 made = convert(both.xy, false), high = convert(both.zw, false);
	if (n >= 4) dst[i * 2] = made;
	if (n >= 8) dst[i * 2 + 1] = high;
	made = mix(made, high, bvec4(n >= 4));
	n = n < 8 ? n : 0;
	uint pack = i * 2 + n / 4, bits = n % 4 * 32;
#endif
	[[dont_unroll]] for (uint b = 0; b < bits; b += 32) {
		uint w = b / 32, mask = 0xffffffffu >> (32 - min(bits - b, 32));
		dst[pack][w] = (dst[pack][w] & ~mask) | (made[w] & mask);
	}
}
#else
layout(set = 0, binding = 0) readonly buffer SrcBuffer { FOUR_IN src[]; };
layout(set = 0, binding = 1) buffer DstBuffer { FOUR_OUT dst[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i * 4 >= p.count) return;
	FOUR_OUT r = convert(src[i], p.isSigned != 0u);
	uint n = p.count - i * 4;
	if (n >= 4) {
		dst[i] = r;
	} else {
		STORE_SOME(i, r, n);
	}
}
#endif
