// Copies memory as fast as a kernel can. It is the ceiling of operations that mostly read and
// write.
//
//lathe:variant u32
//lathe:variant u32.texel TEXEL
#version 450
#extension GL_EXT_control_flow_attributes : require

#include "lib/grid.glsl"
#include "lib/packs.glsl"

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
	[[unroll]] for (uint n = 0; n < PACKS; n++, i += WG) {
		if (i < p.count) {
#if defined(TEXEL)
			dst[i] = texelFetch(src, int(i));
#else
			dst[i] = src[i];
#endif
		}
	}
}
