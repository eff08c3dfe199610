// Outputs that begin and end in the middle of a pack. Include after dtype.glsl.

#define EDGED(slot, name) layout(set = 0, binding = slot) buffer name##Buffer { uvec4 name[]; }

// STORE_EDGED writes those elements of pack i whose numbers, counted from pack 0
// on, lie from first to end-1, and leaves the others as they are.
#define STORE_EDGED(name, i, r, first, end) { \
	uvec4 all_ = r; \
	[[unroll]] for (uint w_ = 0; w_ < 4; w_++) { \
		uint mask_ = wordMask((i) * 4 + w_, first, end); \
		if (mask_ == 0xffffffffu) name[i][w_] = all_[w_]; \
		KEEP_OTHERS(name[i][w_], all_[w_], mask_) \
	} \
}

// KEEP_OTHERS sets the bits of a word that mask has, if it has some of them only. No other elements share a word of 32 bits. Kernels
// that load nothing of their output can have an epilogue (docs/adr/0070).
#if BITS >= 32
#define KEEP_OTHERS(word, bits, mask)
#else
#define KEEP_OTHERS(word, bits, mask) else if (mask != 0u) word = (word & ~mask) | (bits & mask);
#endif

// wordMask has the bits of word w that belong to elements first to end-1.
uint wordMask(uint w, uint first, uint end) {
#if BITS >= 32
	uint e = w / (BITS / 32);
	return e >= first && e < end ? 0xffffffffu : 0u;
#else
	uint low = 2 * w >= first && 2 * w < end ? 0xffffu : 0u;
	uint high = 2 * w + 1 >= first && 2 * w + 1 < end ? 0xffff0000u : 0u;
	return low | high;
#endif
}

// elementOf is element k of a pack.
REAL elementOf(uvec4 r, uint k) {
	REAL v[PACK] = unpack(r);
	REAL x = v[0];
	[[unroll]] for (uint i = 1; i < PACK; i++) if (i == k) x = v[i];
	return x;
}
