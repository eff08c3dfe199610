// Running values along an axis of [outer, n, inner], such as cumulative sums. The axis is divided
// into chunks of so many rows, and an invocation walks one column of a chunk. TOTAL makes the value
// of each chunk, [outer, chunks, inner]. Their running values are what the chunks begin with.
// Results have the type of the arithmetic. The including file defines combine and identity.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 i8 i16
//lathe:variant *
//lathe:variant *.total TOTAL

#define REALS 1
#include "lib/integers.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint outer;
	uint n;      // rows in the window
	uint inner;
	uint base;   // element of the window where the first lies
	uint made;   // that of the results
	uint begin;  // word of the first value that chunks begin with
	uint chunks; // in the window, for each outer
	uint rows;   // of a chunk
	uint exclusive; // 1: a result has the elements before it, and not its own
	uint reverse;   // 1: from the last row to the first
	uint begins;    // 1: chunks begin with values
} p;

layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
layout(set = 0, binding = 1) readonly buffer Begin { uint begin[]; };
layout(set = 0, binding = 2) writeonly buffer Dst { uint dst[]; };

#if defined(SMALL)
#define GET_ELEMENT(to, i) to = SMALL_ELEMENT(src, i)
#elif BITS == 16
#define GET_ELEMENT(to, i) to = WIDEN(uvec4((src[(i) >> 1] >> (((i) & 1u) * 16u)) & 0xffffu)).x
#else
#define GET_ELEMENT(to, i) GET_REAL(to, src, (i) * REAL_WORDS)
#endif

REAL combine(REAL a, REAL b);
REAL identity();

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x, inner = p.inner;
	uint column = i % inner, c = i / inner % p.chunks, o = i / inner / p.chunks;
	if (o >= p.outer) return;
	uint from = c * p.rows, count = min(p.rows, p.n - from);
	uint first = (o * p.n + from) * inner + column, row = p.reverse != 0u ? count - 1u : 0u;
	REAL running = identity();
	if (p.begins != 0u) GET_REAL(running, begin, p.begin + i * REAL_WORDS);
	bool exclusive = p.exclusive != 0u;
	uint at = first + row * inner, step_ = p.reverse != 0u ? 0u - inner : inner;
	for (uint k = 0; k < count; k++) {
		REAL x;
		GET_ELEMENT(x, p.base + at);
#if defined(TOTAL)
		running = combine(running, x);
#else
		REAL before = running;
		running = combine(running, x);
		if (exclusive) {
			PUT_REAL(dst, (p.made + at) * REAL_WORDS, before);
		} else {
			PUT_REAL(dst, (p.made + at) * REAL_WORDS, running);
		}
#endif
		at += step_;
	}
#if defined(TOTAL)
	PUT_REAL(dst, (p.made + i) * REAL_WORDS, running);
#endif
}
