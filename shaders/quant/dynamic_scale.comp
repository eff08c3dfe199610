// The scale and the zero point of dynamic quantisation, from the least and the largest number. Both count
// 0 too. The scale is their distance over 255, rounded as IEEE 754 says.
//
//lathe:variant f32
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/quotient.glsl"

layout(local_size_x = 1) in;

layout(set = 0, binding = 0) readonly buffer Least { uint least[]; };
layout(set = 0, binding = 1) readonly buffer Most { uint most[]; };
layout(set = 0, binding = 2) writeonly buffer Scale { uint scale[]; };
layout(set = 0, binding = 3) buffer Zero { uint zero[]; };

// over255 is the bits of a positive number over 255. 255 has eight bits, so that 24 and 8 bits of the
// mantissa fit a word. Numbers that are not finite stay as they are, and subnormal ones become 0.
uint over255(uint bits) {
	uint e = bits >> 23, m = (bits & 0x7fffffu) | 0x800000u, by = m >= 0xff0000u ? 7u : 8u;
	uint n = m << by, q = n / 255u;
	q += 2u * (n - q * 255u) > 255u ? 1u : 0u;
	// q has 24 bits. A mantissa that is rounded up to 25 bits carries into the exponent.
	uint r = ((e - by) << 23) + (q - 0x800000u);
	r = e <= by ? 0u : r;
	return e == 255u ? bits : r;
}

void main() {
	uint low = least[0], high = most[0];
	bool bad = (low & 0x7fffffffu) > 0x7f800000u || (high & 0x7fffffffu) > 0x7f800000u;
	low = (low >> 31) != 0u ? low : 0u;
	high = (high >> 31) == 0u ? high : 0u;
	uint apart = floatBitsToUint(uintBitsToFloat(high) - uintBitsToFloat(low));
	uint s = over255(apart);
	s = s == 0u ? 0x3f800000u : s; // A tensor of zeros has the scale 1.
	s = bad ? 0x7fc00000u : s;
	scale[0] = s;
	int z = clamp(roundedQuotient(uintBitsToFloat(low ^ 0x80000000u), uintBitsToFloat(s)), 0, 255);
	zero[0] = (zero[0] & 0xffffff00u) | uint(z);
}
