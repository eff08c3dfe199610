// Matrix product by tiles in shared memory. A workgroup of EDGE × EDGE invocations makes
// TILE × TILE elements, DEPTH of k at a time. Each invocation has SIDE × SIDE of them in
// registers. Shared memory has two halves. While the tiles of one half are multiplied, the
// next ones are loaded, and then fill the other half. Operands may have any strides.
// Elements outside of them count as zeros. The result has the type of the arithmetic, and
// with WIDE_A so has A.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant * SIDE=8 EDGE=8
//lathe:variant {f16,bf16}.wide SIDE=8 EDGE=8 WIDE_A
//lathe:variant *.large SIDE=8 EDGE=16
//lathe:variant {f16,bf16}.wide.large SIDE=8 EDGE=16 WIDE_A
//lathe:variant f64 F64 SIDE=4 EDGE=8
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/gemm.glsl"

#define WG (EDGE * EDGE)
#define TILE (EDGE * SIDE)
#define DEPTH 8
#define QUADS (TILE / 4)          // across a tile
#define PARTS (SIDE / 4)          // of them to an invocation, half a tile apart
#define LOADS (QUADS * DEPTH / WG) // of each tile that an invocation loads
layout(local_size_x = WG) in;

#if BITS == 64
#define WORD uvec2
#define QUAD dvec4
#else
#define WORD uint
#define QUAD vec4
#endif
layout(set = 0, binding = 0) readonly buffer A { WORD a[]; };
layout(set = 0, binding = 1) readonly buffer B { WORD b[]; };
layout(set = 0, binding = 2) readonly buffer Bias { WORD bias[]; };
layout(set = 0, binding = 3) buffer C { REAL c[]; };

#if BITS == 64
#define ELEMENT(name, e) packDouble2x32(name[e])
#elif BITS == 32
#define ELEMENT(name, e) uintBitsToFloat(name[e])
#else
#define ELEMENT(name, e) WIDEN(uvec4((name[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif

#if defined(WIDE_A)
#define ELEMENT_A(e) uintBitsToFloat(a[e])
#else
#define ELEMENT_A(e) ELEMENT(a, e)
#endif

shared QUAD x[2][DEPTH * QUADS];
shared QUAD y[2][DEPTH * QUADS];

// place is where quad t of an invocation lies in a tile: its step of k and its place
// across. Neighbouring invocations load neighbouring elements in either layout.
uvec2 place(uint t, bool along) {
	uint u = t * WG + gl_LocalInvocationID.x;
	return mix(uvec2(u / QUADS, u % QUADS), uvec2(u % DEPTH, u / DEPTH), bvec2(along));
}

// LOAD loads the quads of a tile that belong to this invocation. A quad is four elements
// from first across on, at k.
#define LOAD(made, along, element, k, first, count, base, kStep, step_) \
	[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { \
		uvec2 at_ = place(t_, along); \
		uint k_ = (k) + at_.x, e_ = (base) + min(k_, depth - 1) * (kStep); \
		[[unroll]] for (uint j_ = 0; j_ < 4; j_++) { \
			uint i_ = (first) + 4 * at_.y + j_; \
			REAL v_ = element(e_ + min(i_, (count) - 1) * (step_)); \
			made[t_][j_] = mix(REAL(0), v_, all(lessThan(uvec2(k_, i_), uvec2(depth, count)))); \
		} \
	}
#define KEEP(tile, made, along) \
	[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { uvec2 at_ = place(t_, along); tile[at_.x * QUADS + at_.y] = made[t_]; }

#define ELEMENT_B(e) ELEMENT(b, e)
#define LOAD_BOTH(k) { \
	LOAD(nextX, along, ELEMENT_A, k, row, p.m, a0, p.aCol, p.aRow) \
	LOAD(nextY, across, ELEMENT_B, k, column, p.n, b0, p.bRow, p.bCol) \
}
#define KEEP_BOTH(half_) { KEEP(x[half_], nextX, along) KEEP(y[half_], nextY, across) }

void main() {
	uint inner, outer, depth;
	locate(inner, outer, depth);
	uint me = gl_LocalInvocationID.x;
	uint row = gl_WorkGroupID.y * TILE, column = gl_WorkGroupID.x * TILE;
	uint a0 = p.aBase + inner * p.aInner + outer * p.aOuter;
	uint b0 = p.bBase + inner * p.bInner + outer * p.bOuter;
	bool along = p.aCol == 1, across = p.bCol != 1;
	QUAD acc[SIDE][PARTS], nextX[LOADS], nextY[LOADS];
	[[unroll]] for (uint i = 0; i < SIDE; i++) [[unroll]] for (uint j = 0; j < PARTS; j++) acc[i][j] = QUAD(0);
	if (depth > 0) {
		LOAD_BOTH(0)
		KEEP_BOTH(0)
	}
	barrier();
	uint now = 0;
	for (uint k0 = 0; k0 < depth; k0 += DEPTH) {
		bool more = k0 + DEPTH < depth;
		if (more) LOAD_BOTH(k0 + DEPTH)
		for (uint k = 0; k < DEPTH; k++) {
			QUAD v[PARTS];
			[[unroll]] for (uint j = 0; j < PARTS; j++) v[j] = y[now][k * QUADS + me % EDGE + j * EDGE];
			[[unroll]] for (uint i = 0; i < PARTS; i++) {
				QUAD u = x[now][k * QUADS + me / EDGE + i * EDGE];
				[[unroll]] for (uint r = 0; r < 4; r++)
					[[unroll]] for (uint j = 0; j < PARTS; j++) acc[4 * i + r][j] = fma(QUAD(u[r]), v[j], acc[4 * i + r][j]);
			}
		}
		now = 1 - now;
		if (more) KEEP_BOTH(now)
		barrier();
	}
	uint c0 = p.cBase + inner * p.cInner + outer * p.cOuter;
	[[unroll]] for (uint j = 0; j < SIDE; j++) {
		uint n = column + 4 * (me % EDGE + j / 4 * EDGE) + j % 4;
		REAL add = REAL(0);
		if (p.bias != 0 && n < p.n) add = ELEMENT(bias, p.biasBase + n);
		[[unroll]] for (uint i = 0; i < SIDE; i++) {
			uint m = row + 4 * (me / EDGE + i / 4 * EDGE) + i % 4;
			if (m < p.m && n < p.n) {
				uint at = c0 + m * p.cRow + n * p.cCol;
				if (p.accumulate != 0) c[at] += acc[i][j / 4][j % 4] + add;
				else c[at] = acc[i][j / 4][j % 4] + add;
			}
		}
	}
}
