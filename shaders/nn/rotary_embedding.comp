// Rotates pairs of elements of rows by the angles of their positions. An invocation makes a pack.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/packs.glsl"

layout(push_constant) uniform Params {
	uint count;             // elements
	uint column, row;       // of the first one
	uint width, rotated;    // elements of a row, and how many of them rotate
	uint positions, each;   // rows that have positions one after the other, and rows of a batch
	uint stepBatch, stepRow; // rows of the table from batch to batch, and from position to position
	uint base;              // where the first row is
	uint interleaved;       // 1: neighbours are a pair; 0: those of both halves
	uint zero;              // always 0, which compilers do not know
} p;

#if BITS == 64
#define WORD uvec2
#define VALUE(e) packDouble2x32(src[e])
#elif BITS == 32
#define WORD uint
#define VALUE(e) uintBitsToFloat(src[e])
#else
#define WORD uint
#define VALUE(e) WIDEN(uvec4((src[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif
layout(set = 0, binding = 0) readonly buffer FaultBuffer { uint faults[4]; };
layout(set = 0, binding = 1) readonly buffer Src { WORD src[]; };
layout(set = 0, binding = 2) readonly buffer Table { REAL table[]; };
OUTPUT(3, dst);

// product is rounded by itself: no compiler joins it with the sum.
#if defined(F64)
REAL product(REAL a, REAL b) { precise REAL v = a * b; return v; }
#else
REAL product(REAL a, REAL b) { return uintBitsToFloat(floatBitsToUint(a * b) ^ p.zero); }
#endif

uvec4 packOf(uint i) {
	REAL v[PACK];
	uint pairs = p.rotated / 2u;
	[[unroll]] for (uint e = 0; e < PACK; e++) {
		uint at = p.column + min(i * PACK + e, p.count - 1u), down = at / p.width, c = at - down * p.width;
		uint row = p.row + down, batch = row / p.each;
		bool rotates = c < p.rotated, low = c < pairs;
		uint half_ = mix(c - pairs, c, low), pair = mix(half_, c / 2u, p.interleaved != 0u);
		bool first = p.interleaved != 0u ? (c & 1u) == 0u : low;
		uint other = mix(mix(c - pairs, c + pairs, low), c ^ 1u, p.interleaved != 0u);
		uint angle = 2u * ((batch * p.stepBatch + row % p.positions * p.stepRow) * pairs + mix(0u, pair, rotates));
		uint start = p.base + down * p.width;
		REAL own = VALUE(start + c), with = VALUE(start + mix(c, other, rotates)), s = table[angle + 1u];
		REAL turned = product(own, table[angle]) + product(with, mix(s, -s, first));
		v[e] = mix(own, turned, rotates);
	}
	return repack(v);
}

void main() {
	if (faults[0] != 0u) return;
	MAP(dst, p.count, packOf)
}
