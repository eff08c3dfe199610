// Stores of lib/dtype.glsl.

// CPU drivers run both sides of a branch, and each store is a loop over the lanes. So the
// rest of a pack is written word by word in a loop, because they do leave a loop early.
#if BITS >= 32
#define OUTPUT(slot, name) layout(set = 0, binding = slot) writeonly buffer name##Buffer { uvec4 name[]; }
#define STORE_WORDS(name, i, r, n) [[dont_unroll]] for (uint w_ = 0; w_ < (n) * (BITS / 32); w_++) name[i][w_] = r[w_];
#else
#define OUTPUT(slot, name) layout(set = 0, binding = slot) buffer name##Buffer { uvec4 name[]; }
#define STORE_WORDS(name, i, r, n) [[dont_unroll]] for (uint b_ = 0; b_ < (n) * BITS; b_ += 32) { \
	uint w_ = b_ / 32, mask_ = 0xffffffffu >> (32 - min((n) * BITS - b_, 32)); \
	name[i][w_] = (name[i][w_] & ~mask_) | (r[w_] & mask_); \
}
#endif
#define STORE(name, i, r, n) { \
	uvec4 all_ = r; \
	uint n_ = n; \
	if (n_ >= PACK) name[i] = all_; \
	n_ = n_ < PACK ? n_ : 0u; \
	STORE_WORDS(name, i, all_, n_) \
}

// MAP(name, count, packOf) is the body of a kernel over contiguous elements. It sets the
// first count elements of name; pack i is packOf(i). Each of the WG invocations makes PACKS
// packs. Full packs come first, then the rest of the last one. EACH is [[unroll]], or
// [[dont_unroll]] if packOf is long.
#define EACH [[unroll]]
#define MAP(name, count, packOf) { \
	uint first_ = flatGroup() * (WG * PACKS) + gl_LocalInvocationID.x; \
	uint whole_ = (count) / PACK, end_ = ((count) - 1) / PACK, left_ = 0u; \
	uvec4 last_ = uvec4(0); \
	EACH for (uint u_ = 0; u_ < PACKS; u_++) { \
		uint i_ = first_ + u_ * WG; \
		uvec4 made_ = packOf(min(i_, end_)); \
		if (i_ < whole_) name[i_] = made_; \
		last_ = mix(last_, made_, bvec4(i_ == whole_)); \
		left_ = mix(left_, (count) % PACK, i_ == whole_); \
	} \
	STORE_WORDS(name, whole_, last_, left_) \
}
