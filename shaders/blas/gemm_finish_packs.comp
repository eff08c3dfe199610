// lib/gemm_finish.glsl for rows of whole packs, of y and of C. An invocation writes PACKS of them.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant * PACKS=1
//lathe:variant *.texel TEXEL PACKS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/gemm_finish.glsl"

#define WG 64
#define QUADS (PACK / 4)
layout(local_size_x = WG) in;

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform samplerBuffer parts;
#define QUAD_OF(i) texelFetch(parts, int(i))
#else
layout(set = 0, binding = 0) readonly buffer Parts { vec4 parts[]; };
#define QUAD_OF(i) parts[i]
#endif
INPUT(1, addends);
layout(set = 0, binding = 2) writeonly buffer Y { uvec4 y[]; };

void main() {
	uint i = flatGroup() * (WG * PACKS) + gl_LocalInvocationID.x, packs = p.packs, rows = p.rows, inner = p.inner, all = p.runs * packs;
	uint count = p.parts, part = p.part / 4, addend = p.addend;
	float alpha = NUMBER(p.alpha), beta = NUMBER(p.beta);
	[[unroll]] for (uint u = 0; u < PACKS; u++, i += WG) {
		if (i < all) {
			uint row = i / packs, col = i - row * packs;
			uvec3 r = locate(row, rows, inner);
			uint from = placeOfPart(r) / 4 + col * QUADS;
			vec4 v[QUADS];
			[[unroll]] for (uint q = 0; q < QUADS; q++) v[q] = vec4(0.0);
			for (uint s = 0; s < count; s++, from += part)
				[[unroll]] for (uint q = 0; q < QUADS; q++) v[q] += QUAD_OF(from + q);
			REAL made[PACK];
			[[unroll]] for (uint k = 0; k < PACK; k++) made[k] = v[k / 4][k % 4] * alpha;
			if (addend != 0) {
				REAL add[PACK] = unpack(FETCH(addends, placeOfC(r) / PACK + col));
				[[unroll]] for (uint k = 0; k < PACK; k++) made[k] += beta * add[k];
			}
			y[placeOfY(r) / PACK + col] = repack(made);
		}
	}
}
