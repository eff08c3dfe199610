// Copies memory as fast as a kernel can. It is the ceiling of operations that mostly read and
// write. The bench counts the fastest variant that a device can run. With WIDE an invocation
// reads four packs before it writes any of them, so that a GPU has many reads under way.
//
//lathe:variant u32
//lathe:variant u32.texel TEXEL
//lathe:variant u32.wide WIDE
#version 450
#extension GL_EXT_control_flow_attributes : require

#include "lib/grid.glsl"
#if defined(WIDE)
#define WG 256
#define PACKS 4
layout(local_size_x = WG) in;
#else
#include "lib/packs.glsl"
#endif

layout(push_constant) uniform Params {
	uint count; // packs of 16 bytes
} p;

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform usamplerBuffer src;
#else
layout(set = 0, binding = 0) readonly buffer Src { uvec4 src[]; };
#endif
layout(set = 0, binding = 1) writeonly buffer Dst { uvec4 dst[]; };

void main() {
	uint i = flatGroup() * (WG * PACKS) + gl_LocalInvocationID.x;
#if defined(WIDE)
	uvec4 v[PACKS];
	[[unroll]] for (uint n = 0; n < PACKS; n++) v[n] = src[min(i + n * WG, p.count - 1)];
	[[unroll]] for (uint n = 0; n < PACKS; n++) {
		if (i + n * WG < p.count) dst[i + n * WG] = v[n];
	}
#else
	[[unroll]] for (uint n = 0; n < PACKS; n++, i += WG) {
		if (i < p.count) {
#if defined(TEXEL)
			dst[i] = texelFetch(src, int(i));
#else
			dst[i] = src[i];
#endif
		}
	}
#endif
}
