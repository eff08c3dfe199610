// The general form of lib/binary.glsl: inputs with any strides, 0 where they are
// broadcast. The output is contiguous and may begin anywhere in a pack; an
// invocation makes one whole pack of it, whatever rows that lies in, so no two
// write to one word. It finds its elements four at a time, without branches: CPU drivers
// run both sides of these.

#define WG 64
layout(local_size_x = WG) in;
#include "lib/over.glsl"

layout(push_constant) uniform Params {
	// Sizes and strides in elements, innermost first. If there are several dimensions, the last place has the outermost one.
	uint n[8], a[8], b[8];
	uint rank;             // 1 and the dimensions between those two
	uint count;            // elements
	uint aBase, bBase;     // where the first element is
	uint base;             // and where in the window that of the output is
} p;

layout(set = 0, binding = 0) readonly buffer ABuffer { uint srcA[]; };
layout(set = 0, binding = 1) readonly buffer BBuffer { uint srcB[]; };
layout(set = 0, binding = 2) buffer DstBuffer { uvec4 dst[]; };

// GATHER puts element e of an input at place k of the pack r.
#if BITS == 32
#define GATHER(r, k, name, e) r[k] = name[e]
#elif BITS == 16
#define GATHER(r, k, name, e) r[(k) / 2] |= ((name[(e) >> 1] >> (((e) & 1u) * 16)) & 0xffffu) << ((k) % 2 * 16)
#else
#define GATHER(r, k, name, e) { r[(k) * 2] = name[(e) * 2]; r[(k) * 2 + 1] = name[(e) * 2 + 1]; }
#endif

void main() {
	// Invocations beside the output read what its first or last pack does, and write nothing.
	uint at = flatGroup() * WG + gl_LocalInvocationID.x, i = clamp(at, p.base / PACK, (p.base + p.count - 1) / PACK);
	// Elements begin..end of the pack are the output's. The others take the place of its first or last one.
	uint begin = min(max(p.base, i * PACK) - i * PACK, PACK), end = min(p.base + p.count - i * PACK, PACK);
	uint n = p.n[0], first = i * PACK + begin - p.base, row = over(first, n), x = first - row * n;
	uvec4 ra = uvec4(0), rb = uvec4(0);
	[[unroll]] for (uint k = 0; k < PACK; k += 4) {
		// Elements follow each other along dimension 0, and then in the next row.
		uvec4 a = uvec4(0), b = uvec4(0), rows = uvec4(0);
		[[unroll]] for (uint j = 0; j < min(4u, PACK); j++) {
			a[j] = p.aBase + x * p.a[0];
			b[j] = p.bBase + x * p.b[0];
			rows[j] = row;
			x += mix(0u, 1u, k + j >= begin && k + j + 1 < end);
			bool next = x == n;
			x = mix(x, 0u, next);
			row += mix(0u, 1u, next);
		}
		[[dont_unroll]] for (uint d = 1; d < p.rank; d++) {
			uvec4 q = over(rows, p.n[d]), y = rows - q * p.n[d];
			a += y * p.a[d];
			b += y * p.b[d];
			rows = q;
		}
		a += rows * p.a[7];
		b += rows * p.b[7];
		[[unroll]] for (uint j = 0; j < min(4u, PACK); j++) {
			GATHER(ra, k + j, srcA, a[j]);
			GATHER(rb, k + j, srcB, b[j]);
		}
	}
	uvec4 r = applyPack(ra, rb);
	bool whole = end - begin == PACK;
	if (whole && at == i) dst[i] = r;
	// CPU drivers leave a loop early.
	[[dont_unroll]] for (uint w = whole || at != i ? 4u : begin * BITS / 32; w < (end * BITS + 31) / 32; w++) {
#if BITS == 16
		uint mask = (2 * w >= begin ? 0xffffu : 0u) | (2 * w + 1 < end ? 0xffff0000u : 0u);
		dst[i][w] = (dst[i][w] & ~mask) | (r[w] & mask);
#else
		dst[i][w] = r[w];
#endif
	}
}
