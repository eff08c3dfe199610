// The gradient of an elementwise function: dx = dy·f′(x), over contiguous elements.
// The including file defines gradient.

#include "lib/map.glsl"

INPUT(0, x);
INPUT(1, dy);
OUTPUT(2, dx);

// gradient is dx of an element and the gradient d of its result.
REAL gradient(REAL x, REAL d);

#if defined(LANES)
void main() EACH_ELEMENT(p.count, dx, gradient(x[e], dy[e]))
#else
uvec4 packOf(uint i) {
	REAL a[PACK] = unpack(FETCH(x, i)), d[PACK] = unpack(FETCH(dy, i));
	[[unroll]] for (uint k = 0; k < PACK; k++) a[k] = gradient(a[k], d[k]);
	return repack(a);
}

void main() MAP(dx, p.count, packOf)
#endif
