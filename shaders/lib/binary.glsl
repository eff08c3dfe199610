// A function of two elements, mapped over contiguous operands. The including
// file defines apply, and says the dtypes if they are not those below.
//
// REPEAT: an operand smaller than the output comes again and again. What pack i
// of the output takes is number i / div % mod of its packs or, with splat, of its
// elements. div = 0 says that the operand lies as the output does.
// HEAVY: apply is long, and repeated by loops.
// STRIDED: see lib/binary_strided.glsl.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32}.lanes LANES
//lathe:variant *.strided STRIDED
//lathe:variant {f32,f16,bf16,i32}.texel TEXEL
//lathe:variant {f32,f16,bf16,i32}.repeat.texel TEXEL REPEAT

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

#include "lib/packs.glsl"
#if defined(LANES)
#include "lib/lanes.glsl"
#endif

layout(push_constant) uniform Params {
	uint count; // elements
	uint first; // pack of the output that the launch begins with
	uint aDiv, aMod, aSplat;
	uint bDiv, bMod, bSplat;
	// Texel variants: how the numbers go on by the packs of a workgroup, as
	// (WG + rest) / div % mod.
	uint aStep, aRest, bStep, bRest;
} p;

INPUT(0, a);
INPUT(1, b);
OUTPUT(2, dst);

#if defined(LANES)
void main() EACH_ELEMENT(p.count, dst, apply(a[e], b[e]))
#else
#if defined(TEXEL) && !defined(REPEAT)
#define PACK_OF(name, i) FETCH(name, i)
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
uvec4 load(uvec4 r, uint at, uint splat) { return splat != 0u ? one(r, at % PACK) : r; }

#if defined(TEXEL)
// A CPU driver divides lane by lane: once an invocation, which then goes on by
// addition. Walk is where an operand is: its pack or element, and the rest of the
// first division.
struct Walk { uint at, rest; };
Walk aWalk, bWalk;

Walk begin(uint i, uint div, uint mod) {
	uint d = max(div, 1u), q = i / d;
	return Walk(q % max(mod, 1u), i - q * d);
}

void advance(inout Walk w, uint div, uint mod, uint step_, uint rest) {
	w.rest += rest;
	bool over = w.rest >= div;
	w.rest -= mix(0u, div, over);
	w.at += step_ + mix(0u, 1u, over);
	w.at -= mix(0u, mod, w.at >= mod);
}

#define DEFINE_PACK_OF(name) \
uvec4 pack_##name(uint i) { \
	uint at = mix(name##Walk.at, i, p.name##Div == 0u); \
	advance(name##Walk, p.name##Div, p.name##Mod, p.name##Step, p.name##Rest); \
	return load(FETCH(name, p.name##Splat != 0u ? at / PACK : at), at, p.name##Splat); \
}
#else
#define DEFINE_PACK_OF(name) \
uvec4 pack_##name(uint i) { \
	if (p.name##Div != 0u) i = (p.first + i) / p.name##Div % p.name##Mod; \
	return load(FETCH(name, p.name##Splat != 0u ? i / PACK : i), i, p.name##Splat); \
}
#endif
DEFINE_PACK_OF(a)
DEFINE_PACK_OF(b)
#define PACK_OF(name, i) pack_##name(i)
#endif

uvec4 packOf(uint i) {
	uvec4 ra = PACK_OF(a, i), rb = PACK_OF(b, i);
	return applyPack(ra, rb);
}

#if defined(HEAVY)
#undef EACH
#define EACH [[dont_unroll]]
#endif
void main() {
#if defined(TEXEL) && defined(REPEAT)
	uint i = p.first + flatGroup() * (WG * PACKS) + gl_LocalInvocationID.x;
	aWalk = begin(i, p.aDiv, p.aMod);
	bWalk = begin(i, p.bDiv, p.bMod);
#endif
	MAP(dst, p.count, packOf)
}
#endif
#endif
