// The words of Philox 4×32-10.
//
//lathe:variant u32 F32
//lathe:variant u32.texel F32 TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"
#include "lib/philox.glsl"

OUTPUT(0, dst);

uvec4 packOf(uint i) { return block(i); }

void main() MAP(dst, p.count, packOf)
