// The general form of lib/binary.glsl: inputs with any strides, 0 where they are
// broadcast. The output is contiguous and may begin anywhere in a pack; an
// invocation makes one whole pack of it, whatever rows that lies in, so no two
// write to one word.

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint n[8], a[8], b[8]; // sizes and strides in elements, innermost first
	uint rank;             // dimensions
	uint count;            // elements
	uint aBase, bBase;     // where the first element is
	uint base;             // and where in the window that of the output is
} p;

layout(set = 0, binding = 0) readonly buffer ABuffer { uvec4 srcA[]; };
layout(set = 0, binding = 1) readonly buffer BBuffer { uvec4 srcB[]; };
layout(set = 0, binding = 2) buffer DstBuffer { uvec4 dst[]; };

// GATHER puts element e of an input at place k of the pack r.
#if BITS == 32
#define GATHER(r, k, name, e) r[k] = name[(e) >> 2][(e) & 3u]
#elif BITS == 16
#define GATHER(r, k, name, e) r[(k) / 2] |= ((name[(e) >> 3][((e) >> 1) & 3u] >> (((e) & 1u) * 16)) & 0xffffu) << ((k) % 2 * 16)
#else
#define GATHER(r, k, name, e) { r[(k) * 2] = name[(e) >> 1][((e) & 1u) * 2]; r[(k) * 2 + 1] = name[(e) >> 1][((e) & 1u) * 2 + 1]; }
#endif

// row is where a row of both inputs begins.
uvec2 row(uint i) {
	uvec2 at = uvec2(p.aBase, p.bBase);
	for (uint d = 1; d < p.rank; d++) {
		uint q = i / p.n[d], k = i - q * p.n[d];
		at += k * uvec2(p.a[d], p.b[d]);
		i = q;
	}
	return at;
}

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i * PACK >= p.base + p.count) return;
	// Elements begin..end of the pack are the output's.
	uint begin = min(max(p.base, i * PACK) - i * PACK, PACK), end = min(p.base + p.count - i * PACK, PACK);
	uint first = i * PACK + begin - p.base, n = p.n[0];
	uint y = first / n, x = first - y * n;
	uvec2 at = row(y), step_ = uvec2(p.a[0], p.b[0]);
	uvec4 ra = uvec4(0), rb = uvec4(0);
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		if (k >= begin && k < end) {
			uvec2 e = at + x * step_;
			GATHER(ra, k, srcA, e.x);
			GATHER(rb, k, srcB, e.y);
			if (++x == n) {
				x = 0u;
				at = row(++y);
			}
		}
	}
	uvec4 r = applyPack(ra, rb);
	if (begin == 0u && end == PACK) {
		dst[i] = r;
		return;
	}
	[[unroll]] for (uint w = 0; w < 4; w++) {
#if BITS == 16
		uint low = 2 * w >= begin && 2 * w < end ? 0xffffu : 0u, high = 2 * w + 1 >= begin && 2 * w + 1 < end ? 0xffff0000u : 0u;
		if ((low | high) != 0u) dst[i][w] = (dst[i][w] & ~(low | high)) | (r[w] & (low | high));
#else
		uint k = w * 32 / BITS;
		if (k >= begin && k < end) dst[i][w] = r[w];
#endif
	}
}
