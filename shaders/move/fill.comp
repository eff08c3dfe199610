// Fills memory with 16 bytes again and again: elements of any size.
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
	uint x, y, z, w;
} p;

OUTPUT(0, dst);

void main() {
	uint first = flatGroup() * (WG * PACKS) + gl_LocalInvocationID.x;
	uint whole = p.count / 16;
	uvec4 r = uvec4(p.x, p.y, p.z, p.w);
	[[unroll]] for (uint n = 0, i = first; n < PACKS; n++, i += WG) {
		if (i < whole) dst[i] = r;
	}
	// What is left of a pack, as in lib/unary.glsl.
	if (whole % WG == first % WG && whole >= first && whole - first < WG * PACKS && whole * 16 < p.count) {
		STORE(dst, whole, r, p.count - whole * 16);
	}
}
