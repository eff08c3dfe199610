// A copy of contiguous bytes, 16 at a time.
//
//lathe:variant u8
//lathe:variant u8.texel TEXEL

#version 450
#extension GL_GOOGLE_include_directive : require
#define BITS 8
#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#if defined(TEXEL)
#define WG 256
#define PACKS 4
#else
#define WG 64
#define PACKS 1
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // bytes
} p;

INPUT(0, src);
OUTPUT(1, dst);

void main() {
	uint first = flatGroup() * (WG * PACKS) + gl_LocalInvocationID.x;
	uint whole = p.count / 16;
	[[unroll]] for (uint n = 0, i = first; n < PACKS; n++, i += WG) {
		if (i < whole) dst[i] = FETCH(src, i);
	}
	// What is left of a pack, once an invocation: CPU drivers run both sides of
	// a branch, and each store is a loop over the lanes.
	if (whole % WG == first % WG && whole >= first && whole - first < WG * PACKS && whole * 16 < p.count) {
		STORE(dst, whole, FETCH(src, whole), p.count - whole * 16);
	}
}
