// Sums of powers over windows. The lower four bits of the parameter are the power of the
// elements. The bits above are the root of the sum.

#define IDENTITY REAL(0)
#define NO_INDEX 0u
#include "lib/pool.glsl"
#include "lib/pool_sum.glsl"

// term is |x|^power of powers up to 15.
REAL term(REAL x) {
	REAL b = abs(x), v = REAL(1);
	[[unroll]] for (uint i = 0; i < 4; i++) {
		v = mix(v, v * b, (p.power >> i & 1u) != 0u);
		b *= b;
	}
	return v;
}
