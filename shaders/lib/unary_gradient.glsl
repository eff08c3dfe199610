// The gradient of an elementwise function: dx = dy·f′(x), over contiguous elements.
// The including file defines gradient. With NUMBERS it takes two numbers of the call too.

#include "lib/map.glsl"

#if defined(FUNCTION)
#include "lib/part.glsl"
#else
INPUT(0, x);
INPUT(1, dy);
OUTPUT(2, dx);
#endif

// gradient is dx of an element and the gradient d of its result.
#if defined(NUMBERS)
REAL gradient(REAL x, REAL d, REAL a, REAL b);
#define GRADIENT(x, d) gradient(x, d, NUMBER(p.first), NUMBER(p.second))
#else
REAL gradient(REAL x, REAL d);
#define GRADIENT(x, d) gradient(x, d)
#endif

#if defined(FUNCTION)
#if defined(NUMBERS)
REAL linked(const REAL x, const REAL d, const REAL a, const REAL b) { return gradient(x, d, a, b); }
void main() { any_[4] = linked(any_[0], any_[1], any_[2], any_[3]); }
#else
REAL linked(const REAL x, const REAL d) { return gradient(x, d); }
void main() { any_[2] = linked(any_[0], any_[1]); }
#endif
#elif defined(LANES)
void main() EACH_ELEMENT(p.count, dx, GRADIENT(x[e], dy[e]))
#else
uvec4 packOf(uint i) {
	REAL a[PACK] = unpack(FETCH(x, i)), d[PACK] = unpack(FETCH(dy, i));
	[[unroll]] for (uint k = 0; k < PACK; k++) a[k] = GRADIENT(a[k], d[k]);
	return repack(a);
}

void main() MAP(dx, p.count, packOf)
#endif
