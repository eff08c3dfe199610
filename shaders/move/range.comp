// Numbers with a constant distance: start + i · delta.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64
//lathe:variant *

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

void main() MAP(dst, p.count, packOf)
