// A map over contiguous elements. The including file defines apply; it has the
// variants below unless it declares its own.
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

INPUT(0, src);
OUTPUT(1, dst);

REAL apply(REAL x);

uvec4 packOf(uint i) {
	REAL v[PACK] = unpack(FETCH(src, i));
	[[unroll]] for (uint k = 0; k < PACK; k++) v[k] = apply(v[k]);
	return repack(v);
}

void main() MAP(dst, p.count, packOf)
