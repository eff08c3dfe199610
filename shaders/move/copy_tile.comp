// A copy of words for which dimension 0 is contiguous in the output and dimension 1 in the
// input. A workgroup copies a tile of these two dimensions, at one index of the others.
//
// On CPU drivers blocks of 4 by 4 are transposed in registers, on others a tile in shared
// memory.
// ALIGNED is for inputs that lie in whole texels, PACKED for outputs too.
//
//lathe:variant u32
//lathe:variant u32.texel TEXEL
//lathe:variant u32.texel.aligned TEXEL ALIGNED
//lathe:variant u32.texel.packed TEXEL ALIGNED PACKED

#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

#if defined(TEXEL)
#define WG 256
#define TILE 64
#if defined(PACKED)
#define BLOCKS 4 // one below the other, that an invocation turns
#else
#define BLOCKS 1
#endif
#else
#define BLOCKS 1
#define WG 64
#define TILE 32
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint n[8], src[8], dst[8]; // sizes and strides in words
	uint rank;                 // dimensions
	uint down, across;         // tiles along dimensions 0 and 1
	uint total;                // workgroups
	uint srcBase, dstBase;     // where the first word is
} p;

#if defined(PACKED)
layout(set = 0, binding = 1) writeonly buffer DstBuffer { uvec4 dst[]; };
#else
layout(set = 0, binding = 1) writeonly buffer DstBuffer { uint dst[]; };
#endif

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform usamplerBuffer src;
// four is the four words from word i on.
uvec4 four(uint i) {
	uvec4 a = texelFetch(src, int(i >> 2));
#if !defined(ALIGNED)
	uvec4 b = texelFetch(src, int(i >> 2) + 1);
	if ((i & 2u) != 0u) { a = uvec4(a.zw, b.xy); b.x = b.z; }
	if ((i & 1u) != 0u) a = uvec4(a.yzw, b.x);
#endif
	return a;
}
#else
layout(set = 0, binding = 0) readonly buffer SrcBuffer { uint src[]; };
shared uint tile[TILE][TILE + 1];
#endif

void main() {
	uint g = flatGroup(), l = gl_LocalInvocationID.x;
	if (g >= p.total) return; // the whole workgroup
	uint from = p.srcBase, to = p.dstBase;
	uint q = g / p.down, y0 = (g - q * p.down) * (TILE * BLOCKS);
	g = q / p.across;
	uint x0 = (q - g * p.across) * TILE;
	for (uint d = 2; d < p.rank; d++) {
		q = g / p.n[d];
		from += (g - q * p.n[d]) * p.src[d];
		to += (g - q * p.n[d]) * p.dst[d];
		g = q;
	}
#if defined(TEXEL)
	uint y = y0 + l / 16 * (4 * BLOCKS), x = x0 + l % 16 * 4; // neighbours read on in a row
	uint ny = p.n[0], nx = p.n[1];
	if (y >= ny || x >= nx) return;
	uint step = p.src[0];
	uvec4 rows[BLOCKS][4];
	[[unroll]] for (uint h = 0; h < BLOCKS; h++) {
#if defined(PACKED)
		uint at = from + min(y + 4 * h, ny - 4) * step + x;
#else
		uint at = from + y * step + x;
#endif
		uvec4 a = four(at), b = four(at + step), c = four(at + 2 * step), d = four(at + 3 * step);
		rows[h] = uvec4[4](uvec4(a.x, b.x, c.x, d.x), uvec4(a.y, b.y, c.y, d.y), uvec4(a.z, b.z, c.z, d.z), uvec4(a.w, b.w, c.w, d.w));
	}
	uint at = to + x * p.dst[1] + y;
	step = p.dst[1];
#if defined(PACKED)
	at /= 4;
	step /= 4;
	[[unroll]] for (uint k = 0; k < 4; k++) {
		[[unroll]] for (uint h = 0; h < BLOCKS; h++) {
			if (x + k < nx && y + 4 * h < ny) dst[at + k * step + h] = rows[h][k];
		}
	}
#else
	[[unroll]] for (uint k = 0; k < 4; k++) {
		[[unroll]] for (uint j = 0; j < 4; j++) {
			if (x + k < nx && y + j < ny) dst[at + k * step + j] = rows[0][k][j];
		}
	}
#endif
#else
	uint lane = l % TILE, first = l / TILE;
	[[unroll]] for (uint k = first; k < TILE; k += WG / TILE) {
		if (x0 + lane < p.n[1] && y0 + k < p.n[0]) tile[k][lane] = src[from + (y0 + k) * p.src[0] + x0 + lane];
	}
	barrier();
	[[unroll]] for (uint k = first; k < TILE; k += WG / TILE) {
		if (y0 + lane < p.n[0] && x0 + k < p.n[1]) dst[to + (x0 + k) * p.dst[1] + y0 + lane] = tile[lane][k];
	}
#endif
}
