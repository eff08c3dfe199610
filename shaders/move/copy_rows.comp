// A copy of long rows of words, of which neighbours are neighbours in the output, and in the
// input too or all the same word. An invocation makes four packs of the output. A row may begin
// at any word of a pack, and at another one in the input. So packs are put together of two
// packs of the input. EDGES makes the words of each row before its first whole pack, and those
// after the last one.
//
//lathe:variant u32.texel TEXEL
//lathe:variant u32.texel.aligned TEXEL ALIGNED
//lathe:variant u32.texel.splat TEXEL SPLAT
//lathe:variant u32.texel.edges TEXEL EDGES

#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"
#include "lib/shifted.glsl"

layout(local_size_x = 256) in;

layout(push_constant) uniform Params {
	uint n[8], src[8], dst[8]; // sizes and strides in words, innermost first
	uint rank;                 // dimensions, at least 2
	uint slots;                // invocations for a row
	uint total;                // invocations
	uint srcBase, dstBase;     // where the first word is
} p;

layout(set = 0, binding = 0) uniform usamplerBuffer src;

uint word(uint i) {
	uvec4 t = texelFetch(src, int(i >> 2));
	uvec2 h = (i & 2u) != 0u ? t.zw : t.xy;
	return (i & 1u) != 0u ? h.y : h.x;
}

#if defined(EDGES)
layout(set = 0, binding = 1) writeonly buffer DstBuffer { uint dst[]; };

void makeOf(uint slot, uint from, uint to) {
	uint end = to + p.n[0], low = slot == 0u ? to : end & ~3u, n = (slot == 0u ? 0u - to : end) & 3u;
	from += (low - to) * p.src[0];
	[[dont_unroll]] for (uint k = 0u; k < n; k++) dst[low + k] = word(from + k * p.src[0]);
}
#else
layout(set = 0, binding = 1) writeonly buffer DstBuffer { uvec4 dst[]; };

void makeOf(uint slot, uint from, uint to) {
	uint first = (to + 3u) / 4u, end = (to + p.n[0]) / 4u, last = (from + p.n[0] - 1u) / 4u;
	uvec4 made[4];
#if defined(SPLAT)
	made[0] = made[1] = made[2] = made[3] = uvec4(word(from));
#elif defined(ALIGNED)
	[[unroll]] for (uint k = 0u; k < 4u; k++) made[k] = texelFetch(src, int(min(from / 4u + slot * 4u + k, last)));
#else
	from += 4u * first - to + slot * 16u;
	uvec4 a = texelFetch(src, int(min(from / 4u, last)));
	[[unroll]] for (uint k = 0u; k < 4u; k++) {
		uvec4 b = texelFetch(src, int(min(from / 4u + k + 1u, last)));
		made[k] = shifted(a, b, from);
		a = b;
	}
#endif
	first += slot * 4u;
	[[unroll]] for (uint k = 0u; k < 4u; k++) if (first + k < end) dst[first + k] = made[k];
}
#endif

void main() {
	uint i = flatGroup() * 256u + gl_LocalInvocationID.x;
	if (i >= p.total) return;
	uint row = i / p.slots, slot = i - row * p.slots, from = p.srcBase, to = p.dstBase;
	for (uint d = 1u; d + 1u < p.rank; d++) {
		uint q = row / p.n[d], k = row - q * p.n[d];
		from += k * p.src[d];
		to += k * p.dst[d];
		row = q;
	}
	makeOf(slot, from + row * p.src[p.rank - 1u], to + row * p.dst[p.rank - 1u]);
}
