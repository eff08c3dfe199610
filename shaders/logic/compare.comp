// Compares elements. The bits of every type become numbers without sign that have the same order.
//
// words[0] says which relations give true: 1 less, 2 equal, 4 greater, 8 unordered. words[1] is 0
// for integers without sign, 1 for integers with one, and 2 for floats. words[2] is infinity, or its
// high word.
#version 450
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define OUT_BITS 8
#include "lib/raw_any.glsl"

#if BITS == 64
const uint TOP = 0x80000000u, ALL = 0xffffffffu;
#else
const uint TOP = 1u << (BITS - 1), ALL = 0xffffffffu >> (32 - BITS);
#endif

// key is the number of an element, the high word second. nan becomes true if it is none.
uvec2 key(uvec2 v, inout bool nan) {
#if BITS == 64
	uint low = v.x, high = v.y;
#else
	uint low = 0u, high = v.x;
#endif
	bool isReal = p.words[1] == 2u, minus = (high & TOP) != 0u;
	uint size = high & ~TOP;
	bool over = size + min(low, 1u) > p.words[2];
	nan = mix(nan, true, isReal && over);
	bool zero = (size | low) == 0u;
	bool turned = isReal && minus;
	uint h = mix(mix(high, high ^ TOP, p.words[1] != 0u), ~high & ALL, turned);
	return uvec2(mix(low, ~low, turned), mix(h, TOP, isReal && zero)) & uvec2(mix(0xffffffffu, 0u, isReal && zero), 0xffffffffu);
}

uvec2 apply(uvec2 a, uvec2 b) {
	bool nan = false;
	uvec2 x = key(a, nan), y = key(b, nan);
	uint low = mix(mix(4u, 2u, x.x == y.x), 1u, x.x < y.x);
	uint relation = mix(mix(4u, low, x.y == y.y), 1u, x.y < y.y);
	relation = mix(relation, 8u, nan);
	return uvec2(mix(0u, 1u, (p.words[0] & relation) != 0u), 0u);
}
