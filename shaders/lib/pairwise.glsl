// PAIRWISE combines the elements of a block in pairs by f. The result is in v[0].
#define PAIRWISE(v, f) { \
	if (BLOCK > 16) [[unroll]] for (uint i_ = 0; i_ < 16; i_++) v[i_ % BLOCK] = f(v[i_ % BLOCK], v[(i_ + 16) % BLOCK]); \
	if (BLOCK > 8) [[unroll]] for (uint i_ = 0; i_ < 8; i_++) v[i_ % BLOCK] = f(v[i_ % BLOCK], v[(i_ + 8) % BLOCK]); \
	if (BLOCK > 4) [[unroll]] for (uint i_ = 0; i_ < 4; i_++) v[i_ % BLOCK] = f(v[i_ % BLOCK], v[(i_ + 4) % BLOCK]); \
	v[0] = f(v[0], v[2]); \
	v[1] = f(v[1], v[3]); \
	v[0] = f(v[0], v[1]); \
}
