// The terms of a sum of exponentials: e^−d of the distances d of elements from the largest one, in parts of 2^−(62 − shift),
// rounded down.
//
//lathe:dtypes u8 u16 u32 u64
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/integers.glsl"
#include "lib/grid.glsl"
#include "lib/shift64.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // elements
	uint shift;
} p;

#if defined(SMALL)
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
#define DISTANCE(i) uvec2(uint(SMALL_ELEMENT(src, i)), 0u)
#elif BITS == 32
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
#define DISTANCE(i) uvec2(src[i], 0u)
#else
layout(set = 0, binding = 0) readonly buffer Src { uvec2 src[]; };
#define DISTANCE(i) src[i]
#endif
layout(set = 0, binding = 1) writeonly buffer Dst { uvec2 dst[]; };

// term is e^−d in parts of 2^−62. Where d is larger than all here it is less than one part.
uvec2 term(uvec2 d) {
	uvec2 t = uvec2(0u);
#define TERM(k, low, high) t = mix(t, uvec2(low, high), bvec2(d.x == k));
	TERM(0u, 0x00000000u, 0x40000000u) TERM(1u, 0x2cef37c6u, 0x178b5636u) TERM(2u, 0xdfc0e5cfu, 0x08a95551u)
	TERM(3u, 0x99d615d9u, 0x032fb619u) TERM(4u, 0x8213cf47u, 0x012c155bu) TERM(5u, 0x80354dd8u, 0x006e64ffu)
	TERM(6u, 0xe227a9abu, 0x00289ca3u) TERM(7u, 0xce1254c7u, 0x000ef0b5u) TERM(8u, 0x410409ebu, 0x00057f08u)
	TERM(9u, 0x44a4ca8bu, 0x0002059eu) TERM(10u, 0xcdab23e4u, 0x0000be6bu) TERM(11u, 0x508e3d9du, 0x0000460du)
	TERM(12u, 0x4c3b43bcu, 0x000019c5u) TERM(13u, 0x029dcc0eu, 0x0000097bu) TERM(14u, 0xd8dfb602u, 0x0000037cu)
	TERM(15u, 0x75ca227eu, 0x00000148u) TERM(16u, 0xd56eebbau, 0x00000078u) TERM(17u, 0x73c62eb4u, 0x0000002cu)
	TERM(18u, 0x5a628c69u, 0x00000010u) TERM(19u, 0x0415bfcbu, 0x00000006u) TERM(20u, 0x3690cabeu, 0x00000002u)
	TERM(21u, 0xd06d8686u, 0x00000000u) TERM(22u, 0x4cad22fcu, 0x00000000u) TERM(23u, 0x1c3527e4u, 0x00000000u)
	TERM(24u, 0x0a6083c7u, 0x00000000u) TERM(25u, 0x03d146f4u, 0x00000000u) TERM(26u, 0x0167852au, 0x00000000u)
	TERM(27u, 0x00844294u, 0x00000000u) TERM(28u, 0x0030a7e0u, 0x00000000u) TERM(29u, 0x0011e642u, 0x00000000u)
	TERM(30u, 0x000695b8u, 0x00000000u) TERM(31u, 0x00026c24u, 0x00000000u) TERM(32u, 0x0000e423u, 0x00000000u)
	TERM(33u, 0x000053edu, 0x00000000u) TERM(34u, 0x00001ee0u, 0x00000000u) TERM(35u, 0x00000b5bu, 0x00000000u)
	TERM(36u, 0x0000042du, 0x00000000u) TERM(37u, 0x00000189u, 0x00000000u) TERM(38u, 0x00000090u, 0x00000000u)
	TERM(39u, 0x00000035u, 0x00000000u) TERM(40u, 0x00000013u, 0x00000000u) TERM(41u, 0x00000007u, 0x00000000u)
	TERM(42u, 0x00000002u, 0x00000000u)
	return mix(t, uvec2(0u), bvec2(d.y != 0u));
}

void main() {
	uint first = flatGroup() * 256 + gl_LocalInvocationID.x;
	[[dont_unroll]] for (uint i = first; i < min(first + 256, p.count); i += 64) dst[i] = shiftRight(term(DISTANCE(i)), p.shift);
}
