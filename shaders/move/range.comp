// Numbers with a constant distance: start + i · delta. WHOLE_BITS is for integers of so many bits, with a
// sign or without: they are the low bits of one of 32.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64
//lathe:variant *
//lathe:variant u8 WHOLE_BITS=8 BITS=8
//lathe:variant u16 WHOLE_BITS=16 F16

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"

layout(push_constant) uniform Params {
	uint count; // elements
	uint first; // the number of the first one
	uint start, startHigh, delta, deltaHigh; // the words of the numbers
} p;

OUTPUT(0, dst);

#if defined(WHOLE_BITS)
uvec4 packOf(uint i) {
	const uint EACH_WORD = 32 / WHOLE_BITS;
	uvec4 r = uvec4(0);
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		uint v = (p.start + p.delta * (p.first + i * PACK + k)) & ((1u << WHOLE_BITS) - 1u);
		r[k / EACH_WORD] |= v << (k % EACH_WORD * WHOLE_BITS);
	}
	return r;
}
#else
#if defined(F64)
REAL number(uint low, uint high) { return packDouble2x32(uvec2(low, high)); }
#elif defined(I64)
#include "lib/high_product.glsl"
REAL number(uint low, uint high) { return uvec2(low, high); }
#elif defined(I32)
REAL number(uint low, uint high) { return int(low); }
#else
REAL number(uint low, uint high) { return uintBitsToFloat(low); }
#endif

uvec4 packOf(uint i) {
	REAL start = number(p.start, p.startHigh), delta = number(p.delta, p.deltaHigh), v[PACK];
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		uint n = p.first + i * PACK + k;
#if defined(I64)
		uvec2 far = uvec2(delta.x * n, highProduct(delta.x, n) + delta.y * n);
		uint low = start.x + far.x;
		v[k] = uvec2(low, start.y + far.y + mix(0u, 1u, low < far.x));
#else
		precise REAL far = delta * REAL(n);
		precise REAL sum = start + far;
		v[k] = sum;
#endif
	}
	return repack(v);
}
#endif

void main() MAP(dst, p.count, packOf)
