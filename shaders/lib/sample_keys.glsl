// Logits as keys that sort: the largest logit has the least key, and equal logits have equal keys. NaN counts as −∞.

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

#if BITS == 32
#define LOGIT(e) uintBitsToFloat(logits[e])
#else
#define LOGIT(e) WIDEN(uvec4((logits[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif

uint keyOf(float x) {
	uint b = floatBitsToUint(isNaN(x) ? -infinity() : x);
	b = (b & 0x7fffffffu) < 0x00800000u ? 0u : b; // both zeros, and what some devices take for them
	return (b >> 31) != 0u ? b : ~(b | 0x80000000u);
}
