// The operands of matrix products by cooperative matrices, see lib/gemm_coop.glsl, and the tiles
// of them that a workgroup shares. All that is read is f16. A shader that gathers B by elements
// defines WORD_B as uint.

#define WG (4 * LANES)
#define TILE (2 * SIDE * EDGE)
#define DEPTH 16
#define PACKS (TILE * DEPTH / 8)   // of a tile
#define LOADS (PACKS / WG)         // of them to an invocation
#define ALONG (DEPTH / 8 + 1)      // packs from row to row of a tile in packs along k,
#define ACROSS (TILE / 8 + 1)      // and across it: one more than needed, so that rows begin in different banks
#define ROOM (TILE * ALONG)
layout(local_size_x = WG) in;

layout(constant_id = 0) const uint M = EDGE;
layout(constant_id = 1) const uint N = EDGE;
layout(constant_id = 2) const uint K = EDGE;

#if !defined(WORD_B)
#define WORD_B uvec4
#endif
layout(set = 0, binding = 0) readonly buffer A { uvec4 a[]; };
layout(set = 0, binding = 1) readonly buffer B { WORD_B b[]; };
layout(set = 0, binding = 2) readonly buffer Bias { uint bias[]; };
layout(set = 0, binding = 3) buffer C { float c[]; };

// place is the step of k and the place across of the first element of pack t.
uvec2 place(uint t, bool along) {
	uint u = t * WG + gl_LocalInvocationID.x;
	return mix(uvec2(u / (TILE / 8), u % (TILE / 8) * 8), uvec2(u % (DEPTH / 8) * 8, u / (DEPTH / 8)), bvec2(along));
}

uint wordOf(uvec4 r, uint e) {
	uvec2 h = (e & 4u) != 0u ? r.zw : r.xy;
	return ((e & 2u) != 0u ? h.y : h.x) >> (e & 1u) * 16 & 0xffffu;
}

// LOAD loads the packs of a tile that belong to this invocation, where the operand has steps. Elements outside of
// it are zeros. whole says that its elements lie in whole packs.
#define LOAD(made, name, along, whole, k, first, count, base, kStep, step_) \
	[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { \
		uvec2 at_ = place(t_, along) + uvec2(k, first), n_ = uvec2(along ? 8 : 1, along ? 1 : 8); \
		uint e_ = (base) + at_.x * (kStep) + at_.y * (step_); \
		if (whole && all(lessThanEqual(at_ + n_, uvec2(depth, count)))) { \
			made[t_] = name[e_ / 8]; \
		} else { \
			uvec4 r_ = uvec4(0); \
			for (uint j_ = 0; j_ < 8; j_++) { \
				uvec2 i_ = at_ + j_ * min(n_ - 1, uvec2(1)); \
				if (all(lessThan(i_, uvec2(depth, count)))) { \
					uint f_ = (base) + i_.x * (kStep) + i_.y * (step_); \
					r_[j_ / 2] |= wordOf(name[f_ / 8], f_) << (j_ & 1u) * 16; \
				} \
			} \
			made[t_] = r_; \
		} \
	}
