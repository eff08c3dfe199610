// The gradient of an elementwise function: dx = dy·slope(x), over contiguous
// elements. The including file defines slope; it has the variants below.
//
//lathe:variant f32 F32
//lathe:variant f32.texel F32 TEXEL
//lathe:variant f16 F16
//lathe:variant f16.texel F16 TEXEL
//lathe:variant bf16 BF16
//lathe:variant bf16.texel BF16 TEXEL
//lathe:variant f64 F64

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#if defined(TEXEL)
#define WG 256
#define PACKS 4
#else
#define WG 64
#define PACKS 1
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // elements
} p;

INPUT(0, x);
INPUT(1, dy);
OUTPUT(2, dx);

// slope is dx of an element and the gradient d of its result.
REAL slope(REAL x, REAL d);

uvec4 packOf(uint i) {
	REAL a[PACK] = unpack(FETCH(x, i)), d[PACK] = unpack(FETCH(dy, i));
	[[unroll]] for (uint k = 0; k < PACK; k++) a[k] = slope(a[k], d[k]);
	return repack(a);
}

void main() MAP(dx, p.count, packOf)
