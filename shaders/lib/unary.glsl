// A map over contiguous elements. The including file defines apply.

#include "lib/map.glsl"

INPUT(0, src);
OUTPUT(1, dst);

REAL apply(REAL x);

#if defined(LANES)
void main() EACH_ELEMENT(p.count, dst, apply(src[e]))
#else
uvec4 packOf(uint i) {
	REAL v[PACK] = unpack(FETCH(src, i));
	[[unroll]] for (uint k = 0; k < PACK; k++) v[k] = apply(v[k]);
	return repack(v);
}

void main() MAP(dst, p.count, packOf)
#endif
