// A map over contiguous elements. The including file defines apply. With NUMBERS it takes two
// numbers of the call too.

#include "lib/map.glsl"

#if defined(FUNCTION)
#include "lib/part.glsl"
#else
INPUT(0, src);
OUTPUT(1, dst);
#endif

#if defined(NUMBERS)
REAL apply(REAL x, REAL a, REAL b);
#define APPLY(x) apply(x, NUMBER(p.first), NUMBER(p.second))
#else
REAL apply(REAL x);
#define APPLY(x) apply(x)
#endif

#if defined(FUNCTION)
#if defined(NUMBERS)
REAL linked(const REAL x, const REAL a, const REAL b) { return apply(x, a, b); }
void main() { any_[3] = linked(any_[0], any_[1], any_[2]); }
#else
REAL linked(const REAL x) { return apply(x); }
void main() { any_[1] = linked(any_[0]); }
#endif
#elif defined(LANES)
void main() EACH_ELEMENT(p.count, dst, APPLY(src[e]))
#else
uvec4 packOf(uint i) {
	REAL v[PACK] = unpack(FETCH(src, i));
	[[unroll]] for (uint k = 0; k < PACK; k++) v[k] = APPLY(v[k]);
	return repack(v);
}

void main() MAP(dst, p.count, packOf)
#endif
