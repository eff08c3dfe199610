// Natural logarithms of numbers of 64 bits, which count parts of 2^−fraction, rounded down. That of 0 is the lowest
// integer, and that of a number below 0 is 0. With EXP a number is a sum of reduce_terms. The largest element comes in
// addition, and the result is rounded toward 0. It is no larger than the limit.
//
//lathe:variant i64 I64
//lathe:variant exp.i64 I64 EXP
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/sum.glsl"
#include "lib/shift64.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // results
	uint fraction;
	uint isSigned; // 1: integers have a sign
	uint words;    // of a largest element
	uint lowest, lowestHigh;
	uint limit, limitHigh;
} p;

#if defined(EXP)
#define MADE 2
#else
#define MADE 1
#endif
layout(set = 0, binding = 0) readonly buffer Src { uvec2 src[]; };
#if defined(EXP)
layout(set = 0, binding = 1) readonly buffer Most { uint most[]; };
#endif
layout(set = 0, binding = MADE) writeonly buffer Dst { uvec2 dst[]; };

bool less(uvec2 a, uvec2 b) { return mix(a.y < b.y, a.x < b.x, a.y == b.y); }

// reaches says whether x is above e^j, which has bits + 1 digits before the point. power has its 64 leading digits.
bool reaches(uvec2 x, uint j, uvec2 power) {
	uint above = p.fraction + ((j * 47274u) >> 15);
	bool isLess = less(shiftRight(power, (63u - above) & 63u), x);
	return all(bvec2(isLess, above < 64u));
}

// logarithm counts the powers that are not above x. They are no integers, so those of which it is true are less than x.
uint logarithm(uvec2 x) {
	uint n = 0u;
#define POWER(j, low, high) n += mix(0u, 1u, reaches(x, j, uvec2(low, high)));
	POWER(1u, 0xa2bb4a9au, 0xadf85458u) POWER(2u, 0xa6ed6e61u, 0xec7325c6u) POWER(3u, 0x7d882f96u, 0xa0af2dfbu)
	POWER(4u, 0x39d2c33cu, 0xda648171u) POWER(5u, 0x819c78fbu, 0x9469c4cbu) POWER(6u, 0x860479bdu, 0xc9b6e2b4u)
	POWER(7u, 0x76ed5378u, 0x891442d5u) POWER(8u, 0x38636f85u, 0xba4f53eau) POWER(9u, 0x387c0e1bu, 0xfd38abe2u)
	POWER(10u, 0xa82afcf8u, 0xac14ee7cu) POWER(11u, 0x727bf9f7u, 0xe9e22447u) POWER(12u, 0x9be4d175u, 0x9ef0b2a6u)
	POWER(13u, 0x564aa9aau, 0xd805ac8bu) POWER(14u, 0xf82eb77cu, 0x92cd6245u) POWER(15u, 0x69543778u, 0xc786657du)
	POWER(16u, 0x40010249u, 0x87975e85u) POWER(17u, 0x7527c673u, 0xb849a460u) POWER(18u, 0xca05e985u, 0xfa791048u)
	POWER(19u, 0x69370b94u, 0xaa36c7cfu) POWER(20u, 0x47402010u, 0xe758445bu) POWER(21u, 0xf767eab2u, 0x9d370fecu)
	POWER(22u, 0x21affc0du, 0xd5ad6dceu) POWER(23u, 0x8fee052bu, 0x9135799du) POWER(24u, 0x3afdb99bu, 0xc55bfdaau)
	POWER(25u, 0x4b164455u, 0x861e9c90u) POWER(26u, 0x535ae505u, 0xb649934bu) POWER(27u, 0xb398e449u, 0xf7c117bfu)
	POWER(28u, 0xb1bcd27du, 0xa85dd1bcu) POWER(29u, 0x8e02b158u, 0xe4d57231u) POWER(30u, 0x614764f4u, 0x9b823857u)
	POWER(31u, 0x66fb66dfu, 0xd35bb2ecu) POWER(32u, 0x5b3163ecu, 0x8fa1fe62u) POWER(33u, 0x92bc108bu, 0xc3379a53u)
	POWER(34u, 0xd0f7b868u, 0x84a9f179u) POWER(35u, 0xe46ad74cu, 0xb44f110du) POWER(36u, 0x906bb3a2u, 0xf510ad0eu)
	POWER(37u, 0xd000cd3cu, 0xa689fdd8u) POWER(38u, 0xbe633870u, 0xe2599a30u) POWER(39u, 0x1528c97au, 0x99d21e94u)
	POWER(40u, 0xcb97545au, 0xd11069cbu) POWER(41u, 0xfb431253u, 0x8e12e446u) POWER(42u, 0x008ac9bbu, 0xc1192ac1u)
	POWER(43u, 0xf5c38a02u, 0x833951e4u) POWER(44u, 0x9bc18ff3u, 0xb25a0e36u)
	return n;
}

bool isNegative(uvec2 x) { return (x.y >> 31 & p.isSigned) != 0u; }

void main() {
	uint i = (flatGroup() * 64 + gl_LocalInvocationID.x) * PACK;
	[[dont_unroll]] for (uint j = i; j < min(i + PACK, p.count); j++) {
		uvec2 sum = src[j];
		uint n = logarithm(sum);
#if defined(EXP)
		uint word = most[j * p.words];
		uint high = most[j * p.words + p.words - 1u];
		uvec2 m = uvec2(word, mix(high, uint(int(word) >> 31) & (0u - p.isSigned), p.words == 1u));
		uvec2 back = addWrapping(~m, uvec2(1u, 0u));
		// Below 0 the result is rounded up, unless the sum is 1.
		uvec2 one = mix(uvec2(1u << (p.fraction & 31u), 0u), uvec2(0u, 1u << (p.fraction & 31u)), bvec2(p.fraction >= 32u));
		bool up = all(bvec3(isNegative(m), less(uvec2(n, 0u), back), sum != one));
		n += mix(0u, 1u, up);
		uvec2 room = addWrapping(uvec2(p.limit, p.limitHigh), back);
		n = mix(n, min(n, room.x), room.y == 0u);
		uvec2 r = addWrapping(m, uvec2(n, 0u));
#else
		uvec2 r = uvec2(mix(n, 0u, isNegative(sum)), 0u);
#endif
		dst[j] = mix(r, uvec2(p.lowest, p.lowestHigh), bvec2(sum == uvec2(0u)));
	}
}
