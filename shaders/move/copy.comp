// A copy of contiguous bytes, 16 at a time.
//
//lathe:variant u8
//lathe:variant u8.texel TEXEL

#version 450
#extension GL_GOOGLE_include_directive : require
#define BITS 8
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"

layout(push_constant) uniform Params {
	uint count; // bytes
} p;

INPUT(0, src);
OUTPUT(1, dst);

uvec4 packOf(uint i) { return FETCH(src, i); }

void main() MAP(dst, p.count, packOf)
