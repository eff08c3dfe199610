// A map over contiguous elements. The including file defines apply. With NUMBERS it takes two
// numbers of the call too.

#include "lib/map.glsl"

INPUT(0, src);
OUTPUT(1, dst);

#if defined(NUMBERS)
REAL apply(REAL x, REAL a, REAL b);
#define APPLY(x) apply(x, NUMBER(p.first), NUMBER(p.second))
#else
REAL apply(REAL x);
#define APPLY(x) apply(x)
#endif

#if defined(LANES)
void main() EACH_ELEMENT(p.count, dst, APPLY(src[e]))
#else
uvec4 packOf(uint i) {
	REAL v[PACK] = unpack(FETCH(src, i));
	[[unroll]] for (uint k = 0; k < PACK; k++) v[k] = APPLY(v[k]);
	return repack(v);
}

void main() MAP(dst, p.count, packOf)
#endif
