// TRANSPOSE makes bit i of word k what bit k of word i was, for 32 words (H. S. Warren, Hacker's Delight, 7-3).
#define TRANSPOSE(v) { \
	const uint masks[5] = uint[](0x0000ffffu, 0x00ff00ffu, 0x0f0f0f0fu, 0x33333333u, 0x55555555u); \
	[[unroll]] for (uint s = 0; s < 5; s++) { \
		uint by = 16u >> s; \
		[[unroll]] for (uint i = 0; i < 16; i++) { \
			uint low = i / by * 2 * by + i % by, high = low + by; \
			uint t = ((v[low] >> by) ^ v[high]) & masks[s]; \
			v[high] ^= t; \
			v[low] ^= t << by; \
		} \
	} \
}
