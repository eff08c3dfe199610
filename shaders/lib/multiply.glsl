// Products of elements, and ONE. Integers wrap. oneOr is x where ok, and ONE elsewhere. Include
// after lib/dtype.glsl.

#if defined(I64)
#include "lib/high_product.glsl"
#define ONE uvec2(1u, 0u)
uvec2 multiply(uvec2 a, uvec2 b) {
	return uvec2(a.x * b.x, highProduct(a.x, b.x) + a.x * b.y + a.y * b.x);
}
uvec2 oneOr(uvec2 x, bool ok) { return mix(ONE, x, bvec2(ok)); }
#else
#define ONE REAL(1)
REAL multiply(REAL a, REAL b) { return a * b; }
REAL oneOr(REAL x, bool ok) { return mix(ONE, x, ok); }
#endif
