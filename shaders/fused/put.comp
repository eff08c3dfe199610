// Stores of elements of another size than the kernel has that makes them (docs/adr/0070). f32 is stored of words of two elements: the
// eight of a pack, of which there may be four, or with WORD what the mask has of the first or last two of four. 16 bits are
// stored of elements of f32: whole quads, or with LANES one element. BESIDE is the form of the quads for a kernel that stores single elements too.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant * QUADS
//lathe:variant *.beside QUADS BESIDE
//lathe:variant {f32}.word WORD
//lathe:variant {f16,bf16}.lanes LANES
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require
#include "lib/dtype.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(QUADS) && !defined(BESIDE)
#if BITS == 32
layout(set = 0, binding = 0) writeonly buffer DstBuffer { vec4 dst[]; };
void linked(const uint pack, const vec4 low, const vec4 high) {
	dst[pack * 2] = low;
	if (pack * 2 + 1 < uint(dst.length())) dst[pack * 2 + 1] = high;
}
#else
layout(set = 0, binding = 0) writeonly buffer DstBuffer { uvec2 dst[]; };
void linked(const uint quad, const vec4 v) {
	uvec4 h = NARROW(v);
	dst[quad] = h.xz | h.yw << 16;
}
#endif
#elif BITS == 32
layout(set = 0, binding = 0) writeonly buffer DstBuffer { float dst[]; };
#if defined(WORD)
void linked(const uint at, const uint mask, const vec4 v) {
	vec2 e = mix(v.xy, v.zw, bvec2((at & 1u) != 0u));
	if ((mask & 0xffffu) != 0u) dst[at * 2] = e.x;
	if (mask >> 16 != 0u) dst[at * 2 + 1] = e.y;
}
#else
void linked(const uint pack, const vec4 low, const vec4 high) {
	[[unroll]] for (uint i = 0; i < 4; i++) dst[pack * 8 + i] = low[i];
	if (pack * 8 + 4 < uint(dst.length())) {
		[[unroll]] for (uint i = 0; i < 4; i++) dst[pack * 8 + 4 + i] = high[i];
	}
}
#endif
#else
layout(set = 0, binding = 0) writeonly buffer DstBuffer { uint16_t dst[]; };
#if defined(LANES)
void linked(const uint at, const REAL v) { dst[at] = uint16_t(NARROW(vec4(v)).x); }
#else
void linked(const uint quad, const vec4 v) {
	uvec4 h = NARROW(v);
	[[unroll]] for (uint i = 0; i < 4; i++) dst[quad * 4 + i] = uint16_t(h[i]);
}
#endif
#endif

#if defined(LANES)
void main() { linked(0u, any_[0]); }
#elif defined(WORD)
void main() { linked(0u, floatBitsToUint(any_[1]), vec4(any_[0])); }
#elif BITS == 32
void main() { linked(0u, vec4(any_[0]), vec4(any_[1])); }
#else
void main() { linked(0u, vec4(any_[0])); }
#endif
