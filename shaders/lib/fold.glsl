// Folds [outer, n, inner] along n. The tensor is cut into chunks, each of which
// becomes a state; the merge variant turns groups of states into one, as often
// as it takes. The including file says how large a state is (REALS, INDEXED) and
// how many inputs there are (INPUTS), and defines the functions declared below.
//
//   ROWS       inner = 1. An invocation folds a chunk of a row, or LANES of them
//              share it through workgroup memory, or with SUBGROUP through the
//              registers of whole subgroups.
//   COLS       an invocation folds PACK neighbouring columns over a chunk of n.
//   COLS ODD   the same where rows do not begin with a pack.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *.rows ROWS
//lathe:variant *.rows.subgroup ROWS SUBGROUP
//lathe:variant *.cols COLS
//lathe:variant *.odd COLS ODD
//lathe:variant {f32,f64,i32,i64}.merge MERGE
//lathe:variant {f32,f16,bf16}.rows.texel ROWS TEXEL
//lathe:variant {f32,f16,bf16}.cols.texel COLS TEXEL
//lathe:variant {f32,f16,bf16}.odd.texel COLS ODD TEXEL

#if defined(SUBGROUP)
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#define FOLDS
#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint outer;
	uint n;       // elements to fold; states of the group's outer when merging
	uint inner;
	uint base;    // where the first element lies in the window; a word of the states when merging
	uint last;    // last pack of the window
	uint chunks;  // states made for each outer
	uint chunk;   // steps of a chunk: UNROLL packs or rows; states when merging
	uint lanes;   // invocations that share a chunk of a row, a power of two
	uint outBase; // word of the window where the first state lies
	uint first;   // index along n of the window's first element
	uint carry;   // 1: go on from the states that are there
	uint divisor; // for a last step that makes means
	float sign;   // that elements are multiplied by
	float outSign;
#if defined(EPSILON)
	float eps; // with epsLow, for f64
	float epsLow;
#endif
} p;

#include "lib/state.glsl"

#if defined(ROWS) && BITS == 16
#define UNROLL 2
#else
#define UNROLL 4
#endif
#if defined(ROWS)
#define BLOCK (UNROLL * PACK)
#else
#define BLOCK UNROLL
#endif

#if INPUTS == 2
struct Elem { REAL a, b; };
#else
#define Elem REAL
#endif

// absorb adds elements of a block to a state: those for which at < n, where at is
// the index along n in this window.
void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n);
State merge(State a, State b);
State identity();
State finish(State s); // what a last step stores; the identity in all others

#if defined(MERGE)
layout(set = 0, binding = 0) readonly buffer States { uint states[]; };
layout(set = 0, binding = 1) buffer Made { uint made[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	uint column = i % p.inner, c = i / p.inner % p.chunks, o = i / p.inner / p.chunks;
	if (o >= p.outer) return;
	uint from = c * p.chunk, to = min(from + p.chunk, p.n);
	uint at = p.base + ((o * p.n + from) * p.inner + column) * STATE_WORDS;
	State s = identity();
	for (uint k = from; k < to; k++, at += p.inner * STATE_WORDS) {
		State t;
		GET_STATE(t, states, at);
		s = merge(s, t);
	}
	s = finish(s);
	PUT_STATE(made, p.outBase + i * STATE_WORDS, s);
}
#else

INPUT(0, src);
#if INPUTS == 2
INPUT(1, src2);
#define OUT_SLOT 2
#else
#define OUT_SLOT 1
#endif

#if defined(ROWS)
#include "lib/fold_rows.glsl"
#else
#include "lib/fold_cols.glsl"
#endif
#endif
