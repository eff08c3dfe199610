// The gradient of an elementwise function: dx = dy·f′(x), over contiguous
// elements. The including file defines gradient; it has the variants below.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL

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

// gradient is dx of an element and the gradient d of its result.
REAL gradient(REAL x, REAL d);

uvec4 packOf(uint i) {
	REAL a[PACK] = unpack(FETCH(x, i)), d[PACK] = unpack(FETCH(dy, i));
	[[unroll]] for (uint k = 0; k < PACK; k++) a[k] = gradient(a[k], d[k]);
	return repack(a);
}

void main() MAP(dx, p.count, packOf)
