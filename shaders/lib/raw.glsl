// Functions of the bits of elements. An invocation makes four neighbouring elements of the output.
// An element is a uvec2: its bits from the lowest on, and zeros above them. The including file
// defines OPERANDS, 1 to 3, and apply. It may define A_BITS, B_BITS, C_BITS and OUT_BITS where an
// operand has another size than BITS. HEAVY: apply has loops.
//
// The plain variants read operands that lie as the output does, or scalars. STRIDED is for any strides.
//
//lathe:variant u16 BITS=16
//lathe:variant u32 BITS=32
//lathe:variant u64 BITS=64
//lathe:variant u16.function BITS=16 FUNCTION
//lathe:variant u32.function BITS=32 FUNCTION
//lathe:variant u64.function BITS=64 FUNCTION

#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

#if !defined(A_BITS)
#define A_BITS BITS
#endif
#define B_BITS BITS
#define C_BITS BITS
#if !defined(OUT_BITS)
#define OUT_BITS BITS
#endif
#if defined(HEAVY)
#define EACH [[dont_unroll]]
#else
#define EACH [[unroll]]
#endif

#define WG 64
layout(local_size_x = WG) in;

#if defined(FUNCTION)
#include "lib/raw_part.glsl"
#elif defined(STRIDED)
#include "lib/raw_strided.glsl"
#else
layout(push_constant) uniform Params {
	uint count;    // elements
	uint splat[3]; // 1 for operands that are scalars
	uint words[3]; // numbers of the call
} p;
#endif

#if OPERANDS == 1
uvec2 apply(uvec2 a);
#define APPLY(k) apply(a[k])
#elif OPERANDS == 2
uvec2 apply(uvec2 a, uvec2 b);
#define APPLY(k) apply(a[k], b[k])
#else
uvec2 apply(uvec2 a, uvec2 b, uvec2 c);
#define APPLY(k) apply(a[k], b[k], c[k])
#endif

#if !defined(FUNCTION)
// Four elements of memory by their size.
struct Quad { uvec4 low, high; };
#define FOUR_8 uint
#define FOUR_16 uvec2
#define FOUR_32 uvec4
#define FOUR_64 Quad
#define JOIN(a, b) a##b
#define FOUR(bits) JOIN(FOUR_, bits)

#if !defined(STRIDED)
uvec2[4] spread(uint r) { return uvec2[4](uvec2(r & 0xffu, 0u), uvec2((r >> 8) & 0xffu, 0u), uvec2((r >> 16) & 0xffu, 0u), uvec2(r >> 24, 0u)); }
uvec2[4] spread(uvec2 r) { return uvec2[4](uvec2(r.x & 0xffffu, 0u), uvec2(r.x >> 16, 0u), uvec2(r.y & 0xffffu, 0u), uvec2(r.y >> 16, 0u)); }
uvec2[4] spread(uvec4 r) { return uvec2[4](uvec2(r.x, 0u), uvec2(r.y, 0u), uvec2(r.z, 0u), uvec2(r.w, 0u)); }
uvec2[4] spread(Quad r) { return uvec2[4](r.low.xy, r.low.zw, r.high.xy, r.high.zw); }

// READ declares the elements of an operand.
#define READ(name, number, i) uvec2 name[4] = spread(JOIN(name, Src)[mix(i, 0u, p.splat[number] != 0u)]); \
	[[unroll]] for (uint k_ = 1; k_ < 4; k_++) name[k_] = mix(name[k_], name[0], bvec2(p.splat[number] != 0u));

layout(set = 0, binding = 0) readonly buffer ABuffer { FOUR(A_BITS) aSrc[]; };
#if OPERANDS > 1
layout(set = 0, binding = 1) readonly buffer BBuffer { FOUR(B_BITS) bSrc[]; };
#endif
#if OPERANDS > 2
layout(set = 0, binding = 2) readonly buffer CBuffer { FOUR(C_BITS) cSrc[]; };
#endif
#endif

#if OUT_BITS >= 32
layout(set = 0, binding = OPERANDS) writeonly buffer DstBuffer { FOUR(OUT_BITS) dst[]; };
#else
layout(set = 0, binding = OPERANDS) buffer DstBuffer { FOUR(OUT_BITS) dst[]; };
#endif

// put stores the elements begin, …, end-1 of four. CPU drivers run both sides of a branch, and leave a loop early.
void put(uint i, uvec2 v[4], uint begin, uint end) {
	bool whole = end - begin == 4u;
#if OUT_BITS == 8
	uint r = v[0].x | v[1].x << 8 | v[2].x << 16 | v[3].x << 24;
	if (whole) dst[i] = r;
	[[dont_unroll]] for (uint k = whole ? 4u : begin; k < end; k = end) {
		uint mask = (0xffffffffu >> (32u - 8u * (end - begin))) << (8u * begin);
		dst[i] = (dst[i] & ~mask) | (r & mask);
	}
#elif OUT_BITS == 16
	uvec2 r = uvec2(v[0].x | v[1].x << 16, v[2].x | v[3].x << 16);
	if (whole) dst[i] = r;
	[[dont_unroll]] for (uint w = whole ? 4u : begin / 2u; 2u * w < end; w++) {
		uint mask = (2u * w >= begin ? 0xffffu : 0u) | (2u * w + 1u < end ? 0xffff0000u : 0u);
		dst[i][w] = (dst[i][w] & ~mask) | (mix(r.x, r.y, w == 1u) & mask);
	}
#else
	uvec4 low = uvec4(v[0].x, v[1].x, v[2].x, v[3].x), high = uvec4(v[0].y, v[1].y, v[2].y, v[3].y);
#if OUT_BITS == 32
	if (whole) dst[i] = low;
	[[dont_unroll]] for (uint k = whole ? 4u : begin; k < end; k++) dst[i][k] = low[k];
#else
	if (whole) dst[i] = Quad(uvec4(v[0], v[1]), uvec4(v[2], v[3]));
	[[dont_unroll]] for (uint k = whole ? 4u : begin; k < end; k++) {
		if (k < 2u) {
			dst[i].low[k * 2u] = low[k];
			dst[i].low[k * 2u + 1u] = high[k];
		} else {
			dst[i].high[k * 2u - 4u] = low[k];
			dst[i].high[k * 2u - 3u] = high[k];
		}
	}
#endif
#endif
}

#if defined(STRIDED)
void main() STRIDED_MAP
#else
void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i * 4u >= p.count) return;
	READ(a, 0, i)
#if OPERANDS > 1
	READ(b, 1, i)
#endif
#if OPERANDS > 2
	READ(c, 2, i)
#endif
	uvec2 made[4];
	EACH for (uint k = 0; k < 4; k++) made[k] = APPLY(k);
	put(i, made, 0u, min(p.count - i * 4u, 4u));
}
#endif
#endif
