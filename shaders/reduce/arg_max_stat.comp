// The largest element along an axis and its index, or the smallest one if the sign is −1.
// NaN is larger than all others. Of equal elements the first one counts, or the last one if the
// sign is 2 or −2.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 i8 u8 i16 u16 u32 u64
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#define INDEXED
#include "lib/reduce.glsl"
#include "lib/order.glsl"

Accumulator identity() { return Accumulator(LEAST, 0xffffffffu); }
Accumulator finish(Accumulator s) { return s; }

// merge prefers NaN, then the larger, then the earlier or later. The index of the identity comes
// after all others, or before them. Selections in loops are mix, as docs/shaders.md explains.
Accumulator merge(Accumulator a, Accumulator b) {
	bool preferred = mix(b.index < a.index, b.index + 1u > a.index + 1u, abs(p.sign) > 1.5);
	bool second = mix(larger(b.a, a.a), preferred, a.a == b.a);
#if !defined(I32) && !defined(I64)
	bool an = isNaN(a.a), bn = isNaN(b.a);
	second = mix(second, preferred, an);
	second = mix(second, bn, an != bn);
#endif
	return Accumulator(choose(a.a, b.a, second), mix(a.index, b.index, second));
}

#if !defined(MERGE)
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	float sign = p.sign < 0.0 ? -1.0 : 1.0;
	uint first = p.first;
	[[unroll]] for (uint i = 0; i < BLOCK; i++) {
		// An element beyond the end is the identity.
		bool some = at[i] < n;
		s = merge(s, Accumulator(choose(LEAST, flip(v[i], sign), some), mix(0xffffffffu, at[i] + first, some)));
	}
}
#endif
