// Single elements of tensors, for kernels that read them in no order of memory. An
// invocation writes a whole word of 4 bytes, or the words of one element: it makes PER
// elements. With WIDE_IN inputs have the type of the accumulators, and with WIDE_OUT outputs
// have it. lib/dtype.glsl comes first.

// INPUT_WORDS declares an operand that ELEMENT can read. WORD reads word i of it.
#if defined(TEXEL)
#define INPUT_WORDS(slot, name) layout(set = 0, binding = slot) uniform usamplerBuffer name
uint pick(uvec4 t, uint i) {
	uvec2 h = mix(t.xy, t.zw, bvec2((i & 2u) != 0u));
	return mix(h.x, h.y, (i & 1u) != 0u);
}
#define WORD(name, i) pick(texelFetch(name, int((i) >> 2)), i)
#else
#define INPUT_WORDS(slot, name) layout(set = 0, binding = slot) readonly buffer name##Buffer { uint name[]; }
#define WORD(name, i) name[i]
#endif

#if defined(F64)
#define ELEMENT(name, i) packDouble2x32(uvec2(WORD(name, 2u * (i)), WORD(name, 2u * (i) + 1u)))
uint[2] wordsOf(double v) { uvec2 w = unpackDouble2x32(v); return uint[2](w.x, w.y); }
#else
#if BITS == 32 || defined(WIDE_IN)
#define ELEMENT(name, i) uintBitsToFloat(WORD(name, i))
#else
#define ELEMENT(name, i) WIDEN(uvec4((WORD(name, (i) >> 1) >> (((i) & 1u) * 16u)) & 0xffffu)).x
#endif
uint[1] wordsOf(float v) { return uint[1](floatBitsToUint(v)); }
#endif

#if BITS == 16 && !defined(WIDE_OUT)
#define PER 2
#define OUTPUT_WORDS(slot, name) layout(set = 0, binding = slot) buffer name##Buffer { uint name[]; }
#else
#define PER 1
#define OUTPUT_WORDS(slot, name) layout(set = 0, binding = slot) writeonly buffer name##Buffer { uint name[]; }
#define PUT_ELEMENT(name, i, v) { uint w_[REAL_WORDS] = wordsOf(v); [[unroll]] for (uint k_ = 0; k_ < REAL_WORDS; k_++) name[(i) * REAL_WORDS + k_] = w_[k_]; }
#endif

// ELEMENTS(name, base, count, elementOf) is the body of a kernel that sets count elements of
// name from element base on. elementOf(e, own) is element e. own is false if e is
// another invocation's, and the value is not stored.
#if PER == 1
#define ELEMENTS(name, base, count, elementOf) { \
	uint e_ = flatGroup() * WG + gl_LocalInvocationID.x; \
	if (e_ < (count)) { \
		REAL v_ = elementOf(e_, true); \
		PUT_ELEMENT(name, (base) + e_, v_); \
	} \
}
#else
#define ELEMENTS(name, base, count, elementOf) { \
	uint i_ = flatGroup() * WG + gl_LocalInvocationID.x, w_ = (base) / 2u + i_; \
	if (i_ <= ((base) % 2u + (count) - 1u) / 2u) { \
		uint bits_ = 0u, mask_ = 0u; \
		[[dont_unroll]] for (uint k_ = 0; k_ < 2; k_++) { \
			uint e_ = 2u * w_ + k_ - (base); \
			bool own_ = e_ < (count); \
			REAL v_ = elementOf(min(e_, (count) - 1u), own_); \
			uint half_ = mix(0u, 0xffffu << (16u * k_), own_); \
			bits_ |= (NARROW(vec4(v_)).x << (16u * k_)) & half_; \
			mask_ |= half_; \
		} \
		if (mask_ != 0xffffffffu) bits_ |= name[w_] & ~mask_; \
		name[w_] = bits_; \
	} \
}
#endif
