// Fills memory with 16 bytes again and again: elements of any size.
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
	uint x, y, z, w;
} p;

OUTPUT(0, dst);

uvec4 packOf(uint i) { return uvec4(p.x, p.y, p.z, p.w); }

void main() MAP(dst, p.count, packOf)
