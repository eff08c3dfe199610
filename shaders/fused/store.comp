// Stores the first n of four elements at number quad. With LANES it stores element at + k·WG, if it is
// before element n.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 u16 u8
//lathe:variant *
//lathe:variant {f32}.lanes LANES
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/fused.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(LANES)
layout(set = 0, binding = 0) writeonly buffer DstBuffer { REAL dst[]; };
void linked(const uint at, const uint n, const uint k, const REAL v) { if (at + k * WG < n) dst[at + k * WG] = v; }
void main() { linked(0u, 1u, 2u, any_[0]); }
#else

#if BITS < 32
layout(set = 0, binding = 0) buffer DstBuffer { RAW dst[]; };
#else
layout(set = 0, binding = 0) writeonly buffer DstBuffer { uvec4 dst[]; };
#endif

// As STORE of lib/store.glsl: CPU drivers leave a loop early, and run both sides of a branch.
#if BITS == 64
#define STORE_FOUR(i, low, high, n) \
	if (n >= 4u) { dst[(i) * 2] = low; dst[(i) * 2 + 1] = high; } \
	uint some_ = n < 4u ? (n) * 2 : 0u; \
	[[dont_unroll]] for (uint w_ = 0; w_ < min(some_, 4u); w_++) dst[(i) * 2][w_] = low[w_]; \
	[[dont_unroll]] for (uint w_ = 4; w_ < some_; w_++) dst[(i) * 2 + 1][w_ - 4] = high[w_ - 4];
#elif BITS == 32
#define STORE_FOUR(i, r, n) \
	if (n >= 4u) dst[i] = r; \
	uint some_ = n < 4u ? n : 0u; \
	[[dont_unroll]] for (uint w_ = 0; w_ < some_; w_++) dst[i][w_] = r[w_];
#else
#define STORE_FOUR(i, r, n) \
	if (n >= 4u) dst[i] = r; \
	uint some_ = n < 4u ? n : 0u; \
	[[dont_unroll]] for (uint b_ = 0; b_ < some_ * BITS; b_ += 32) { \
		uint w_ = b_ / 32, mask_ = 0xffffffffu >> (32 - min(some_ * BITS - b_, 32)); \
		dst[i][w_] = (dst[i][w_] & ~mask_) | (r[w_] & mask_); \
	}
#endif

#if BITS == 8
void linked(const uint quad, const uint n, const FOUR v) {
	uint r = v[0].x | v[1].x << 8 | v[2].x << 16 | v[3].x << 24;
	if (n >= 4u) dst[quad] = r;
	uint mask = 0xffffffffu >> (32 - 8 * clamp(n, 1u, 3u));
	if (all(bvec2(n > 0u, n < 4u))) dst[quad] = (dst[quad] & ~mask) | (r & mask);
}
#elif BITS == 64
void linked(const uint quad, const uint n, const FOUR v) {
#if defined(F64)
	uvec4 low = uvec4(unpackDouble2x32(v.x), unpackDouble2x32(v.y)), high = uvec4(unpackDouble2x32(v.z), unpackDouble2x32(v.w));
#else
	uvec4 low = uvec4(v[0], v[1]), high = uvec4(v[2], v[3]);
#endif
	STORE_FOUR(quad, low, high, n)
}
#else
void linked(const uint quad, const uint n, const FOUR v) {
#if BITS == 16
#if defined(U16)
	uvec4 h = uvec4(v[0].x, v[1].x, v[2].x, v[3].x);
#else
	uvec4 h = NARROW(v);
#endif
	uvec2 r = h.xz | h.yw << 16;
#elif defined(F32)
	uvec4 r = floatBitsToUint(v);
#else
	uvec4 r = uvec4(v);
#endif
	STORE_FOUR(quad, r, n)
}
#endif

void main() { linked(0u, 4u, FOUR(any_[0], any_[1], any_[2], any_[3])); }
#endif
