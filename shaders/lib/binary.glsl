// A function of two elements, mapped over contiguous operands. The including
// file defines apply and says the variants.
//
// REPEAT: an operand smaller than the output comes again and again. What pack i
// of the output takes is number i / div % mod of its packs or, with splat, of its
// elements. div = 0 says that the operand lies as the output does.
// HEAVY: apply is long, and repeated by loops.
// STRIDED: see lib/binary_strided.glsl.

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

// WebGPU has no additions that give a carry.
#if defined(I64)
REAL addReal(REAL a, REAL b) {
	uint low = a.x + b.x;
	return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}
REAL subReal(REAL a, REAL b) {
	return uvec2(a.x - b.x, a.y - b.y - (a.x < b.x ? 1u : 0u));
}
#else
REAL addReal(REAL a, REAL b) { return a + b; }
REAL subReal(REAL a, REAL b) { return a - b; }
#endif

REAL apply(REAL a, REAL b);

uvec4 applyPack(uvec4 ra, uvec4 rb) {
	REAL a[PACK] = unpack(ra), b[PACK] = unpack(rb);
#if defined(HEAVY)
	// A loop unrolled by the optimiser is copies that lose `precise`, and large.
	[[dont_unroll]] for (uint k = 0; k < PACK; k++) a[k] = apply(a[k], b[k]);
#else
	[[unroll]] for (uint k = 0; k < PACK; k++) a[k] = apply(a[k], b[k]);
#endif
	return repack(a);
}

#if defined(STRIDED)
#include "lib/binary_strided.glsl"
#else

#if defined(TEXEL)
#define WG 256
#define PACKS 4
#else
#define WG 64
#define PACKS 1
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // elements
	uint first; // pack of the output that the launch begins with
	uint aDiv, aMod, aSplat;
	uint bDiv, bMod, bSplat;
} p;

INPUT(0, a);
INPUT(1, b);
OUTPUT(2, dst);

#if defined(TEXEL) && !defined(REPEAT)
#define PACK_OF(name, i, div, mod, splat) FETCH(name, i)
#else
// one repeats element number e of the pack r throughout a pack.
uvec4 one(uvec4 r, uint e) {
#if BITS == 64
	return e == 0u ? r.xyxy : r.zwzw;
#else
	uint at = e * BITS / 32;
	uvec2 h = (at & 2u) != 0u ? r.zw : r.xy;
	uint w = (at & 1u) != 0u ? h.y : h.x;
#if BITS == 16
	w = ((w >> ((e & 1u) * 16)) & 0xffffu) * 0x10001u;
#endif
	return uvec4(w);
#endif
}
#define PACK_OF(name, i, div, mod, splat) pack_##name(i, div, mod, splat)
#define DEFINE_PACK_OF(name) \
uvec4 pack_##name(uint i, uint div, uint mod, uint splat) { \
	if (div != 0u) i = (p.first + i) / div % mod; \
	uvec4 r = FETCH(name, splat != 0u ? i / PACK : i); \
	return splat != 0u ? one(r, i % PACK) : r; \
}
DEFINE_PACK_OF(a)
DEFINE_PACK_OF(b)
#endif

uvec4 packOf(uint i) {
	uvec4 ra = PACK_OF(a, i, p.aDiv, p.aMod, p.aSplat), rb = PACK_OF(b, i, p.bDiv, p.bMod, p.bSplat);
	return applyPack(ra, rb);
}

#if defined(HEAVY)
#undef EACH
#define EACH [[dont_unroll]]
#endif
void main() MAP(dst, p.count, packOf)
#endif
