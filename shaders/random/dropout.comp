// Sets elements to zero, chosen by words of Philox, and multiplies the others.
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

INPUT(0, src);
OUTPUT(1, dst);

// p.offset is the least number in 0..1 that keeps its element.
uvec4 packOf(uint i) {
	REAL v[PACK] = unpack(FETCH(src, i));
	[[unroll]] for (uint b = 0; b < PACK / 4; b++) {
		uvec4 words = block(i * (PACK / 4) + b);
		[[unroll]] for (uint k = 0; k < 4; k++) {
			v[b * 4 + k] = mix(0.0, v[b * 4 + k] * p.scale, unit(words[k]) >= p.offset);
		}
	}
	return repack(v);
}

void main() MAP(dst, p.count, packOf)
