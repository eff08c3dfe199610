// Floating-point numbers turned to another type: part of lib/cast.glsl.

#if defined(FROM_F64) && defined(TO_FLOAT)
// oddBits is the float of a double by its words, rounded to odd; what is
// too small for a normal one is zero.
uint oddBits(uint low, uint high) {
	uint sign = high & 0x80000000u, e = (high >> 20) & 0x7ffu;
	if (e == 0x7ffu) return sign | 0x7f800000u | ((low | (high & 0xfffffu)) != 0u ? 0x400000u : 0u);
	if (e > 1150u) return sign | 0x7f800000u;
	if (e < 897u) return sign;
	uint m = ((high & 0xfffffu) << 3) | (low >> 29);
	return sign | (((e - 896u) << 23) + m) | ((low & 0x1fffffffu) != 0u ? 1u : 0u);
}
#endif

vec4 narrow(FOUR_IN r) {
#if defined(FROM_F32)
	return uintBitsToFloat(r);
#elif defined(FROM_F16)
	return floatOfHalf(uvec4(r.x & 0xffffu, r.x >> 16, r.y & 0xffffu, r.y >> 16));
#elif defined(FROM_BF16)
	return floatOfBfloat(uvec4(r.x & 0xffffu, r.x >> 16, r.y & 0xffffu, r.y >> 16));
#else
	return vec4(0);
#endif
}

// integer rounds a number towards zero. The result is an integer of 64 bits in two words. It
// is least or most, the ends of the type, if the number lies beyond them.
uvec2 integer(REAL x, REAL below, uvec2 least, REAL above, uvec2 most) {
	if (isNaN(x)) return uvec2(0);
	if (x >= above) return most;
	if (x <= below) return least;
	REAL a = floor(abs(x)), h = floor(a * REAL(1.0 / 4294967296.0));
	uint high = uint(h), low = uint(a - h * REAL(4294967296.0));
	if (x < REAL(0)) {
		low = ~low + 1u;
		high = ~high + (low == 0u ? 1u : 0u);
	}
	return uvec2(low, high);
}

FOUR_OUT convert(FOUR_IN r, bool isSigned) {
#if defined(TO_BOOL)
#if defined(FROM_F64)
	uvec4 low, high;
	words(r, false, low, high);
	uvec4 b = low | (high & 0x7fffffffu);
#elif defined(FROM_F32)
	uvec4 b = r & 0x7fffffffu;
#else
	uvec4 b = uvec4(r.x, r.x >> 16, r.y, r.y >> 16) & 0x7fffu;
#endif
	b = mix(uvec4(0), uvec4(1), notEqual(b, uvec4(0)));
	return b.x | b.y << 8 | b.z << 16 | b.w << 24;
#elif defined(TO_FLOAT)
#if defined(FROM_F64)
	uvec4 low, high, b;
	words(r, false, low, high);
#if defined(TO_F32)
	[[unroll]] for (uint k = 0; k < 4; k++) b[k] = floatBitsToUint(float(packDouble2x32(uvec2(low[k], high[k]))));
#else
	[[unroll]] for (uint k = 0; k < 4; k++) b[k] = oddBits(low[k], high[k]);
#endif
	return ofFloats(uintBitsToFloat(b));
#else
	return ofFloats(narrow(r));
#endif
#elif defined(TO_F64)
	dvec4 v = dvec4(narrow(r));
	return Quad(uvec4(unpackDouble2x32(v.x), unpackDouble2x32(v.y)), uvec4(unpackDouble2x32(v.z), unpackDouble2x32(v.w)));
#else
#if defined(FROM_F64)
	dvec4 v = dvec4(packDouble2x32(r.low.xy), packDouble2x32(r.low.zw), packDouble2x32(r.high.xy), packDouble2x32(r.high.zw));
#else
	vec4 v = narrow(r);
#endif
	uvec4 low, high;
	[[unroll]] for (uint k = 0; k < 4; k++) {
#if defined(TO_I64)
		uvec2 w = integer(v[k], REAL(isSigned ? -9223372036854775808.0 : 0), uvec2(0, isSigned ? 0x80000000u : 0u), REAL(isSigned ? 9223372036854775808.0 : 18446744073709551616.0), uvec2(0xffffffffu, isSigned ? 0x7fffffffu : 0xffffffffu));
#elif defined(TO_I32)
		uvec2 w = integer(v[k], REAL(-2147483648.0), uvec2(0x80000000u), REAL(2147483648.0), uvec2(0x7fffffffu));
#elif defined(TO_U32)
		uvec2 w = integer(v[k], REAL(0), uvec2(0), REAL(4294967296.0), uvec2(0xffffffffu));
#elif defined(TO_W16)
		uvec2 w = integer(v[k], REAL(isSigned ? -32768 : 0), uvec2(isSigned ? 0x8000u : 0u), REAL(isSigned ? 32767 : 65535), uvec2(isSigned ? 32767u : 65535u));
#else
		uvec2 w = integer(v[k], REAL(isSigned ? -128 : 0), uvec2(isSigned ? 0x80u : 0u), REAL(isSigned ? 127 : 255), uvec2(isSigned ? 127u : 255u));
#endif
		low[k] = w.x;
		high[k] = w.y;
	}
#if defined(TO_I64)
	return Quad(uvec4(low.x, high.x, low.y, high.y), uvec4(low.z, high.z, low.w, high.w));
#elif defined(TO_W16)
	low &= 0xffffu;
	return low.xz | low.yw << 16;
#elif defined(TO_W8)
	low &= 0xffu;
	return low.x | low.y << 8 | low.z << 16 | low.w << 24;
#else
	return low;
#endif
#endif
}
