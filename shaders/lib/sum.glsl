// Sums of elements, and ZERO. Integers wrap. Include after lib/dtype.glsl.

#if defined(I64)
#define ZERO uvec2(0u)
uvec2 addWrapping(uvec2 a, uvec2 b) {
	uint low = a.x + b.x;
	return uvec2(low, a.y + b.y + mix(0u, 1u, low < a.x));
}
#else
#define ZERO REAL(0)
REAL addWrapping(REAL a, REAL b) { return a + b; }
#endif
