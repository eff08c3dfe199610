// One of two values: the second where the index along a dimension is that of a tensor of
// indices, the first elsewhere. Elements of BITS bits are moved as bits. An invocation makes a
// word. The other bits of the first and the last word stay as they are.
//
//lathe:variant u8 BITS=8
//lathe:variant u16 BITS=16
//lathe:variant u32 BITS=32
//lathe:variant u64 BITS=64

#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, base;        // elements to make, where the first one is
	uint depth, inner;       // sizes of the dimension and of those that follow it
	uint at, first;          // the first element: its index along both together, and that of its indices
	uint indexBase, words;   // words of the indices: where the first one is, of each
} p;

layout(set = 0, binding = 0) readonly buffer IndexBuffer { uint indices[]; };
layout(set = 0, binding = 1) readonly buffer ValueBuffer { uint values[]; };
layout(set = 0, binding = 2) buffer DstBuffer { uint dst[]; };

// isOne reports whether element e has the second value.
bool isOne(uint e) {
	uint a = p.at + e, block = p.depth * p.inner, o = a / block;
	uint rest = a - o * block, d = rest / p.inner, k = rest - d * p.inner;
	uint w = p.indexBase + (o * p.inner + k - p.first) * p.words;
	uint low = indices[w], high = indices[w + p.words - 1u];
	uint sign = mix(high, mix(0u, 0xffffffffu, low >> 31 != 0u), p.words == 1u);
	bool up = all(bvec2(sign == 0u, low == d)), down = all(bvec2(sign == 0xffffffffu, low + p.depth == d));
	return any(bvec2(up, down));
}

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
#if BITS == 64
	if (i >= p.count * 2u) return;
	dst[p.base * 2u + i] = values[mix(0u, 2u, isOne(i / 2u)) + i % 2u];
#else
	const uint per = 32 / BITS;
	if (i > (p.base % per + p.count - 1u) / per) return;
	uint w = p.base / per + i, word = 0u, mask = 0u;
	[[unroll]] for (uint k = 0; k < per; k++) {
		uint e = w * per + k - p.base, bits = (0xffffffffu >> (32 - BITS)) << (k * BITS);
		uint from = mix(0u, 1u, isOne(min(e, p.count - 1u)));
		uint own = mix(0u, bits, e < p.count);
		word |= ((values[from / per] >> (from % per * BITS)) << (k * BITS)) & own;
		mask |= own;
	}
	if (mask != 0xffffffffu) word |= dst[w] & ~mask;
	dst[w] = word;
#endif
}
