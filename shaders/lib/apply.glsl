// Maps each element of [outer, n, inner] by a function of the element and of its
// accumulator. lib/reduce.glsl has made the accumulators, [outer, inner]. An invocation makes
// whole packs of memory, wherever rows begin. The including file defines REALS, INPUTS and
// apply. It may define AFFINE, for a weight and an offset at each index along n, and GUARDED:
// then nothing is written unless the status words are zero. ROWS is for inner = 1 and rows
// of whole packs. Then an invocation needs only one accumulator. FEW is for inner = 1 and rows
// of few elements, on devices whose invocations are lanes of a vector of the processor: an
// invocation maps a row.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL
//lathe:variant {f32,f16,bf16}.rows.texel TEXEL ROWS
//lathe:variant {f32}.few FEW

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/packs.glsl"

layout(push_constant) uniform Params {
	uint count; // elements
	uint n;
	uint inner;
	uint base;  // where the first element lies in the window
	uint last;  // last pack of the window
	uint states; // word of the first accumulator
	uint first; // index along n of the first row, counted from the affine window if there is one
	uint total; // elements that an accumulator is made of
	float eps;    // with epsLow, for f64
	float epsLow;
} p;

#if defined(FEW)
#define HOST
#define MAPPED(slot, name) layout(set = 0, binding = slot) readonly buffer name##Buffer { REAL name[]; }
#else
#define MAPPED(slot, name) INPUT(slot, name)
#endif
MAPPED(0, src);
#if INPUTS == 2
MAPPED(1, src2);
#define NEXT 2
#else
#define NEXT 1
#endif
#if defined(AFFINE)
INPUT(NEXT, affine);
#define ACCUMULATOR_SLOT (NEXT + 1)
#else
#define ACCUMULATOR_SLOT NEXT
#endif
layout(set = 0, binding = ACCUMULATOR_SLOT) readonly buffer States { uint states[]; };
#if defined(FEW)
layout(set = 0, binding = ACCUMULATOR_SLOT + 1) writeonly buffer DstBuffer { REAL dst[]; };
#else
OUTPUT(ACCUMULATOR_SLOT + 1, dst);
#endif
#if defined(GUARDED)
layout(set = 0, binding = ACCUMULATOR_SLOT + 2) readonly buffer Fault { uint fault[]; };
#define CLEAR (fault[0] == 0)
#else
#define CLEAR true
#endif

// apply maps x, and y of the second input, at index r along n.
REAL apply(REAL x, REAL y, Accumulator s, uint r);

#if defined(ROWS)
#include "lib/apply_rows.glsl"
#elif defined(FEW)
#include "lib/apply_few.glsl"
#else
// storePart writes the elements from, …, to-1 of a pack.
void storePart(uint i, uvec4 made, uint from, uint to) {
	[[unroll]] for (uint w = 0; w < 4; w++) {
		uint low = max(from * BITS, 32 * w), high = min(to * BITS, 32 * w + 32);
#if BITS == 16
		if (low < high) {
			uint mask = (0xffffffffu >> (32 - (high - low))) << (low - 32 * w);
			dst[i][w] = (dst[i][w] & ~mask) | (made[w] & mask);
		}
#else
		if (low < high) dst[i][w] = made[w];
#endif
	}
}

void main() {
	uint count = p.count, n = p.n, inner = p.inner, base = p.base;
	// Packs are counted from the one with the first element of the chunk. So only the very
	// first pack has elements that do not belong to this launch.
	uint pack = base / PACK + (flatGroup() * WG + gl_LocalInvocationID.x) * PACKS;
	if (pack * PACK >= base + count || !CLEAR) return;
	uvec4 raw[PACKS];
	[[unroll]] for (uint u = 0; u < PACKS; u++) raw[u] = FETCH(src, min(pack + u, p.last));
#if INPUTS == 2
	uvec4 raw2[PACKS];
	[[unroll]] for (uint u = 0; u < PACKS; u++) raw2[u] = FETCH(src2, min(pack + u, p.last));
#endif
	uint head = pack * PACK < base ? base - pack * PACK : 0;
	uint e = pack * PACK + head - base; // counted from the first of the chunk
	uint q = e / inner, i = e - q * inner, o = q / n, r = q - o * n;
	Accumulator s;
	bool fresh = true; // the next element has another accumulator
	[[unroll]] for (uint u = 0; u < PACKS; u++) {
		REAL v[PACK] = unpack(raw[u]);
#if INPUTS == 2
		REAL w[PACK] = unpack(raw2[u]);
#else
		REAL w[PACK] = v;
#endif
		uint from = head, to = min(PACK, count + base - min((pack + u) * PACK, count + base));
		[[unroll]] for (uint j = 0; j < PACK; j++) {
			if (j >= head && j < to) {
				if (fresh) GET_ACCUMULATOR(s, states, p.states + (o * inner + i) * ACCUMULATOR_WORDS)
				v[j] = apply(v[j], w[j], s, r);
				i++;
				bool wrap = i == inner;
				i = wrap ? 0 : i;
				r += wrap ? 1 : 0;
				wrap = r == n;
				r = wrap ? 0 : r;
				o += wrap ? 1 : 0;
				fresh = wrap || inner != 1;
			}
		}
		uvec4 made = repack(v);
		if (from == 0) {
			if (to > 0) STORE(dst, pack + u, made, to)
		} else {
			storePart(pack + u, made, from, to);
		}
		head = 0;
	}
}
#endif
