// lib/gemm_finish.glsl for y that begins anywhere, and C of any strides. An invocation writes one
// pack of a run. TRIANGLE is for a symmetric y of which one triangle is computed. The other one is that of C.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL
//lathe:variant {f32,f64}.triangle TRIANGLE
//lathe:variant {f32}.triangle.texel TRIANGLE TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/edge.glsl"
#include "lib/gemm_finish.glsl"

#define WG 64
layout(local_size_x = WG) in;

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform samplerBuffer parts;
float partAt(uint i) {
	vec4 t = texelFetch(parts, int(i / 4));
	return (i & 2u) == 0u ? ((i & 1u) == 0u ? t.x : t.y) : ((i & 1u) == 0u ? t.z : t.w);
}
#else
layout(set = 0, binding = 0) readonly buffer Parts { REAL parts[]; };
REAL partAt(uint i) { return parts[i]; }
#endif
layout(set = 0, binding = 1) readonly buffer Addend { WORD c[]; };
EDGED(2, y);

void main() {
	uint run = flatGroup() * WG + gl_LocalInvocationID.x, i = run % p.packs, rows = p.rows, inner = p.inner, n = p.n;
	run /= p.packs;
	if (run >= p.runs) return;
	uint begin = placeOfY(locate(run, rows, inner)), end = begin + p.count;
	i += begin / PACK;
	if (i * PACK >= end) return;
	// The first element of a pack may lie before the run.
	uint e = max(i * PACK, begin) - begin, row = e / n, col = e - row * n;
	row += run;
	uvec3 r = locate(row, rows, inner);
	uint from = placeOfPart(r), c0 = placeOfC(r);
	REAL alpha = NUMBER(p.alpha), beta = NUMBER(p.beta);
	uint count = p.parts, part = p.part, addend = p.addend, cCol = p.cCol;
	REAL v[PACK];
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		v[k] = REAL(0);
		if (i * PACK + k >= begin && i * PACK + k < end) {
			for (uint s = 0; s < count; s++) v[k] += partAt(from + s * part + col);
			v[k] *= alpha;
#if defined(TRIANGLE)
			int right = int(col) - int(r.x) + p.shift; // of the diagonal
			bool outside = p.upper != 0 ? right < 0 : right > 0;
			REAL old = REAL(0);
			if (addend != 0) old = ELEMENT(c0 + col * cCol);
			if (outside) v[k] = old;
			else if (beta != REAL(0)) v[k] += beta * old;
#else
			if (addend != 0) v[k] += beta * ELEMENT(c0 + col * cCol);
#endif
			col++;
			if (col == n) {
				col = 0;
				row++;
				r = locate(row, rows, inner);
				from = placeOfPart(r);
				c0 = placeOfC(r);
			}
		}
	}
	STORE_EDGED(y, i, repack(v), begin, end);
}
