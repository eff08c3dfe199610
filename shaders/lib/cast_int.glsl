// Integers turned to another type: part of lib/cast.glsl.

#if defined(TO_FLOAT)
// floatBits is the float of an integer, of which signs has the bit that is a sign; odd rounds it to odd, and not to even.
uint floatBits(uint low, uint high, uint signs, bool odd) {
	uint sign = high & signs;
	if (sign != 0u) {
		low = ~low + 1u;
		high = ~high + (low == 0u ? 1u : 0u);
	}
	if ((low | high) == 0u) return 0u;
	// To WebGPU findMSB of a uint is one.
	uint top = high != 0u ? 32u + uint(findMSB(high)) : uint(findMSB(low));
	// t holds the 32 digits from the first one on, the last of them 1 if more follow.
	uint s = 63u - top, t;
	if (s >= 32u) {
		t = low << (s - 32u);
	} else {
		uint rest = low << s;
		t = s == 0u ? high : (high << s) | (low >> (32u - s));
		t |= rest != 0u ? 1u : 0u;
	}
	uint m = t >> 8, rest = t & 0xffu;
	m = odd ? m | (rest != 0u ? 1u : 0u) : m + ((rest + 0x7fu + (m & 1u)) >> 8);
	return sign | (((top + 126u) << 23) + m);
}
#endif

FOUR_OUT convert(FOUR_IN r, bool isSigned) {
	uvec4 low, high;
	words(r, isSigned, low, high);
#if defined(TO_FLOAT)
#if defined(TO_F32)
	const bool odd = false;
#else
	const bool odd = true;
#endif
	uvec4 b;
	uint signs = isSigned ? 0x80000000u : 0u;
	[[unroll]] for (uint k = 0; k < 4; k++) b[k] = floatBits(low[k], high[k], signs, odd);
	return ofFloats(uintBitsToFloat(b));
#elif defined(TO_F64)
	dvec4 v = (isSigned ? dvec4(ivec4(high)) : dvec4(high)) * 4294967296.0LF + dvec4(low);
	return Quad(uvec4(unpackDouble2x32(v.x), unpackDouble2x32(v.y)), uvec4(unpackDouble2x32(v.z), unpackDouble2x32(v.w)));
#elif defined(TO_I64)
	return Quad(uvec4(low.x, high.x, low.y, high.y), uvec4(low.z, high.z, low.w, high.w));
#elif defined(TO_W32)
	return low;
#elif defined(TO_W16)
	low &= 0xffffu;
	return low.xz | low.yw << 16;
#elif defined(TO_W8)
	low &= 0xffu;
	return low.x | low.y << 8 | low.z << 16 | low.w << 24;
#else
	uvec4 t = mix(uvec4(0), uvec4(1), notEqual(low | high, uvec4(0)));
	return t.x | t.y << 8 | t.z << 16 | t.w << 24;
#endif
}
