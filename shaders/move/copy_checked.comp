// A copy of contiguous bytes, 16 at a time, unless a device check has found a fault. ZEROS:
// the bytes become zero.
//
//lathe:variant u8
//lathe:variant u8.texel TEXEL
//lathe:variant u8.zeros ZEROS

#version 450
#extension GL_GOOGLE_include_directive : require
#define BITS 8
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"

layout(push_constant) uniform Params {
	uint count; // bytes
} p;

layout(set = 0, binding = 0) readonly buffer FaultBuffer { uint faults[4]; };
OUTPUT(1, dst);
#if defined(ZEROS)
uvec4 packOf(uint i) { return uvec4(0); }
#else
INPUT(2, src);
uvec4 packOf(uint i) { return FETCH(src, i); }
#endif

void main() {
	if (faults[0] != 0u) return;
	MAP(dst, p.count, packOf)
}
