// Ends y = α·A·B + β·C whose product was made in parts or in a wider type: sums the parts in
// their order, scales the sum, adds β·C and rounds once. An invocation writes one pack of a run.
// A run is a row of y, or all of it if its rows follow each other without gaps. C may be y. It is
// not read if addend is 0. If parts is 0, the product is 0.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/edge.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint base;  // element of the bound window with which the first run begins
	uint count; // elements of a run
	uint runs;
	uint packs; // invocations for a run, enough wherever in a pack it begins
	uint rows;  // of a matrix
	uint inner; // matrices of the inner level of the batch
	uint n;     // columns
	uint yRow;  // elements from run to run
	uint yInner;
	uint yOuter;
	uint from; // element of a part with which the first row begins
	uint row;  // elements from row to row of a part
	uint rowInner;
	uint rowOuter;
	uint parts;
	uint part;   // elements from part to part
	uint addend; // 1: add β·C
	uint cBase;
	uint cRow;
	uint cCol;
	uint cInner;
	uint cOuter;
	uint alpha[2]; // bits
	uint beta[2];
} p;

#if BITS == 64
#define WORD uvec2
#define NUMBER(w) packDouble2x32(uvec2(w[0], w[1]))
#define ELEMENT(e) packDouble2x32(c[e])
#else
#define WORD uint
#define NUMBER(w) uintBitsToFloat(w[0])
#if BITS == 32
#define ELEMENT(e) uintBitsToFloat(c[e])
#else
#define ELEMENT(e) WIDEN(uvec4((c[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif
#endif

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

// place is where a row, counted over all matrices, begins in a part and in C.
uvec2 place(uint row, uint rows, uint inner) {
	uint matrix = row / rows, r = row - matrix * rows, o = matrix / inner, i = matrix - o * inner;
	return uvec2(p.from + r * p.row + i * p.rowInner + o * p.rowOuter, p.cBase + r * p.cRow + i * p.cInner + o * p.cOuter);
}

void main() {
	uint run = flatGroup() * WG + gl_LocalInvocationID.x, i = run % p.packs, rows = p.rows, inner = p.inner, n = p.n;
	run /= p.packs;
	if (run >= p.runs) return;
	uint matrix = run / rows, outer = matrix / inner;
	uint begin = p.base + (run - matrix * rows) * p.yRow + (matrix - outer * inner) * p.yInner + outer * p.yOuter, end = begin + p.count;
	i += begin / PACK;
	if (i * PACK >= end) return;
	// The first element of a pack may lie before the run.
	uint e = max(i * PACK, begin) - begin, row = e / n, col = e - row * n;
	row += run;
	uvec2 at = place(row, rows, inner);
	REAL alpha = NUMBER(p.alpha), beta = NUMBER(p.beta);
	uint count = p.parts, part = p.part, addend = p.addend, cCol = p.cCol;
	REAL v[PACK];
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		v[k] = REAL(0);
		if (i * PACK + k >= begin && i * PACK + k < end) {
			for (uint s = 0; s < count; s++) v[k] += partAt(at.x + s * part + col);
			v[k] *= alpha;
			if (addend != 0) v[k] += beta * ELEMENT(at.y + col * cCol);
			col++;
			if (col == n) {
				col = 0;
				row++;
				at = place(row, rows, inner);
			}
		}
	}
	STORE_EDGED(y, i, repack(v), begin, end);
}
