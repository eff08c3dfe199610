// A function of two elements, mapped over contiguous operands. The including
// file defines apply, and says the dtypes if they are not those below.
//
// REPEAT: an operand smaller than the output comes again and again. What pack i
// of the output takes is number i / div % mod of its packs or, with splat, of its
// elements. div = 0 says that the operand lies as the output does.
// HEAVY: apply is long, and repeated by loops.
// FUNCTION: a part, see lib/part.glsl.
// STRIDED: see lib/binary_strided.glsl. SPREAD, LOOP, STEPS: see lib/binary_lanes.glsl.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32}.lanes LANES
//lathe:variant {f32}.lanes.rows LANES SPREAD
//lathe:variant {f32}.lanes.rows.a LANES SPREAD ONLY_A
//lathe:variant {f32}.lanes.rows.b LANES SPREAD ONLY_B
//lathe:variant {f32}.lanes.tall LANES SPREAD TALL
//lathe:variant {f32}.lanes.tall.a LANES SPREAD TALL ONLY_A
//lathe:variant {f32}.lanes.tall.b LANES SPREAD TALL ONLY_B
//lathe:variant {f32}.lanes.loop.a LANES LOOP ONLY_A
//lathe:variant {f32}.lanes.loop.b LANES LOOP ONLY_B
//lathe:variant {f32}.lanes.steps.a LANES STEPS ONLY_A
//lathe:variant {f32}.lanes.steps.b LANES STEPS ONLY_B
//lathe:variant *.strided STRIDED
//lathe:variant {f32,f64,i32,i64}.function FUNCTION
//lathe:variant {f32}.function.lanes FUNCTION LANES
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
	[[dont_unroll]] for (uint k = 0; k < PACK; k++) {
#if defined(TEXEL)
		// On CPU drivers an array at an index that is no constant is memory, read lane by
		// lane. So the elements move to the front by turns.
		REAL v = apply(a[0], b[0]);
		[[unroll]] for (uint j = 1; j < PACK; j++) {
			a[j - 1] = a[j];
			b[j - 1] = b[j];
		}
		a[PACK - 1] = v;
#else
		a[k] = apply(a[k], b[k]);
#endif
	}
#else
	[[unroll]] for (uint k = 0; k < PACK; k++) a[k] = apply(a[k], b[k]);
#endif
	return repack(a);
}

#if defined(FUNCTION)
#include "lib/packs.glsl"
#if defined(LANES)
#include "lib/lanes.glsl"
#endif
#include "lib/part.glsl"
REAL linked(const REAL a, const REAL b) { return apply(a, b); }
void main() { any_[2] = linked(any_[0], any_[1]); }
#elif defined(STRIDED)
#include "lib/binary_strided.glsl"
#else

#include "lib/packs.glsl"
#if defined(LANES)
#include "lib/lanes.glsl"
#endif

#if defined(SPREAD) || defined(LOOP) || defined(STEPS)
#include "lib/binary_lanes.glsl"
#else
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
#include "lib/binary_repeat.glsl"

uvec4 packOf(uint i) {
	uvec4 ra = PACK_OF(a, i), rb = PACK_OF(b, i);
	return applyPack(ra, rb);
}

#if defined(HEAVY) || defined(LONG)
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
#endif
