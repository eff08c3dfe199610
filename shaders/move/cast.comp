// Converts elements from one type to another, four an invocation. FROM_ and TO_ name the
// types. FROM_U8, FROM_U16, FROM_U32, FROM_I64, TO_W8, TO_W16, TO_W32 and TO_I64 are integers of
// that size, signed if the parameters say so. Results that do not fit wrap around. An invocation of a TEXEL variant
// takes as many elements as make whole packs on both sides.
//
//lathe:dtypes f32 f16 bf16 f64 u8 u16 u32 i64
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
//lathe:variant {f16,bf16}.f32.texel FROM_* TO_F32 TEXEL
//lathe:variant f32.f16.texel FROM_F32 TO_F16 TEXEL
//lathe:variant f32.bf16.texel FROM_F32 TO_BF16 TEXEL

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
	uint isSigned; // 1 if integers have a sign
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
