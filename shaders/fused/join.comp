// Two words with four numbers, which are rounded to 16 bits. With WORD it is the first or the second one, as the lowest
// bit of at says.
//
//lathe:dtypes f16 bf16
//lathe:variant *
//lathe:variant *.word WORD
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(WORD)
uint linked(const vec4 v, const uint at) {
	uvec4 h = NARROW(v);
	return mix(h.x | h.y << 16, h.z | h.w << 16, (at & 1u) != 0u);
}
void main() { any_[0] = REAL(linked(vec4(any_[1]), 3u)); }
#else
uvec2 linked(const vec4 v) {
	uvec4 h = NARROW(v);
	return h.xz | h.yw << 16;
}
void main() { any_[0] = REAL(linked(vec4(any_[1])).x); }
#endif
