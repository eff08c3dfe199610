// Copies a matrix of any strides and dtype to rows of whole texels of f32, or of f64 if it is so, with zeros to the
// right and below. The products for CPU drivers read such rows. FLAT is for rows of whole
// packs, which need no zeros.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant * TEXEL
//lathe:variant {f32,f16,bf16}.words
//lathe:variant {f16,bf16}.flat TEXEL FLAT
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/quads.glsl"

#define WG 64
#define TEXELS 4
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows; // of the source
	uint cols;
	uint count; // texels to write of a matrix
	uint wide;  // texels of a row to write
	uint srcBase; // elements
	uint srcRow;
	uint srcCol;
	uint srcInner;
	uint srcOuter;
	uint dstBase; // texels
	uint dstInner;
	uint dstOuter;
	uint dstRow;
	uint inner;
	uint z;
} p;

INPUT(0, src);
layout(set = 0, binding = 1) writeonly buffer Dst { uvec4 dst[]; };

#if defined(FLAT)
#define WRITES QUADS
#else
#define WRITES 1

#if BITS < 64
// lane is element e of the source, as bits.
uint lane(uint e) {
	uvec4 t = FETCH(src, e / PACK);
	uint w = e % PACK * BITS / 32;
	uint word = w < 2 ? (w == 0 ? t.x : t.y) : (w == 2 ? t.z : t.w);
#if BITS == 16
	return (e & 1u) == 0u ? word & 0xffffu : word >> 16;
#else
	return word;
#endif
}

uvec4 widen(uvec4 v) {
#if BITS == 16
	return floatBitsToUint(WIDEN(v));
#else
	return v;
#endif
}
#endif
#endif

void main() {
	uint z = gl_WorkGroupID.z + p.z, outer = z / p.inner, inner = z - outer * p.inner;
	uint src0 = p.srcBase + inner * p.srcInner + outer * p.srcOuter;
	uint dst0 = p.dstBase + inner * p.dstInner + outer * p.dstOuter;
	uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * (WG * TEXELS) + gl_LocalInvocationID.x;
	uint count = p.count / WRITES, wide = p.wide / WRITES, srcRow = p.srcRow, dstRow = p.dstRow;
	[[unroll]] for (uint t = 0; t < TEXELS; t++, i += WG) {
		uint row = i / wide, at = i - row * wide;
		if (i < count) {
#if defined(FLAT)
			uvec4 r = FETCH(src, (src0 + row * srcRow) / PACK + at);
			[[unroll]] for (uint q = 0; q < QUADS; q++) dst[dst0 + row * dstRow + at * QUADS + q] = floatBitsToUint(quad(r, q));
#else
#if BITS == 64
			uint from = src0 + min(row, p.rows - 1) * srcRow;
			uvec2 col = at * 2 + uvec2(0, 1), e = from + min(col, p.cols - 1) * p.srcCol;
			uvec4 low = FETCH(src, e.x / 2), high = FETCH(src, e.y / 2);
			uvec4 v = uvec4(mix(low.xy, low.zw, bvec2((e.x & 1u) != 0u)), mix(high.xy, high.zw, bvec2((e.y & 1u) != 0u)));
			bvec2 there = bvec2(row < p.rows && col.x < p.cols, row < p.rows && col.y < p.cols);
			dst[dst0 + row * dstRow + at] = mix(uvec4(0), v, there.xxyy);
#else
			uint col = at * 4, from = src0 + min(row, p.rows - 1) * srcRow;
			uvec4 v;
			[[unroll]] for (uint k = 0; k < 4; k++) v[k] = lane(from + min(col + k, p.cols - 1) * p.srcCol);
			bvec4 in_ = bvec4(row < p.rows && col < p.cols, row < p.rows && col + 1 < p.cols, row < p.rows && col + 2 < p.cols, row < p.rows && col + 3 < p.cols);
			dst[dst0 + row * dstRow + at] = mix(uvec4(0), widen(v), in_);
#endif
#endif
		}
	}
}
