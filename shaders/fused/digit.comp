// How far an operand's elements are from its first one because of their index in one dimension,
// which is number / div % mod. That is added to how far they are because of the others.
//
//lathe:variant quads QUADS
//lathe:variant lanes LANES
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/over.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(LANES)
uint linked(const uint at, const uint i, const uint first, const uint div, const uint mod, const uint stride_) {
	return at + rest(over(first + i, div), mod) * stride_;
}
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4], any_[5], any_[6]); }
#else
uvec4 linked(const uvec4 at, const uint quad, const uint first, const uint div, const uint mod, const uint stride_) {
	return at + rest(over((first + quad) * 4 + uvec4(0, 1, 2, 3), div), mod) * stride_;
}
void main() { any_[0] = linked(uvec4(any_[1]), any_[2], any_[3], any_[4], any_[5], any_[6]).x; }
#endif
