// Uniform numbers: a word of Philox makes each.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *
//lathe:variant *.texel TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"
#include "lib/philox.glsl"

OUTPUT(0, dst);

uvec4 packOf(uint i) {
	REAL v[PACK];
	[[unroll]] for (uint b = 0; b < PACK / 4; b++) {
		uvec4 words = block(i * (PACK / 4) + b);
		vec4 n = placed(vec4(unit(words.x), unit(words.y), unit(words.z), unit(words.w)));
		[[unroll]] for (uint k = 0; k < 4; k++) v[b * 4 + k] = n[k];
	}
	return repack(v);
}

void main() MAP(dst, p.count, packOf)
