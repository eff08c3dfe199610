// Reduces [outer, n, inner] along n. The tensor is divided into chunks, and each chunk
// becomes an accumulator. The merge variant makes one accumulator of each group of them. It
// runs as often as needed. The including file says how large an accumulator is (REALS,
// INDEXED) and how many inputs there are (INPUTS). It defines the functions declared below.
//
//   ROWS       inner = 1. One invocation reduces a chunk of a row, or LANES invocations
//              share it. They share through workgroup memory, or with SUBGROUP through
//              the registers of whole subgroups.
//              QUAD is for devices whose invocations are lanes of a vector of the
//              processor: the four of a workgroup read neighbouring elements.
//   FEW        inner = 1, for the same devices: an invocation reduces a row of few elements.
//   COLS       an invocation reduces PACK neighbouring columns over a chunk of n.
//   COLS ODD   the same where rows do not begin with a pack.
//              LANES is for the same devices as QUAD: see lib/reduce_lanes.glsl.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *.rows ROWS
//lathe:variant *.rows.subgroup ROWS SUBGROUP
//lathe:variant {f32}.rows.quad ROWS QUAD
//lathe:variant {f32}.few FEW
//lathe:variant *.cols COLS
//lathe:variant {f32}.cols.lanes COLS LANES
//lathe:variant *.odd COLS ODD
//lathe:variant {f32,f64,i32,i64,u32,u64}.merge MERGE
//lathe:variant {f32}.merge.lanes MERGE LANES
//lathe:variant {f32,f16,bf16}.rows.texel ROWS TEXEL
//lathe:variant {f32,f16,bf16}.cols.texel COLS TEXEL
//lathe:variant {f32,f16,bf16}.odd.texel COLS ODD TEXEL

#if defined(SUBGROUP)
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#if defined(QUAD)
#extension GL_KHR_shader_subgroup_ballot : require
#endif
#define REDUCES
#include "lib/integers.glsl"
#include "lib/grid.glsl"

#if defined(QUAD) || defined(FEW) || defined(LANES) && defined(COLS)
#define HOST
#endif
#if defined(HOST) && !defined(FEW)
#define WG 4
#elif defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint outer;
	uint n;       // elements to reduce; when merging, accumulators of each outer
	uint inner;
	uint base;    // where the first element lies in the window; when merging, a word of the accumulators
	uint last;    // last pack of the window
	uint chunks;  // accumulators made for each outer
	uint chunk;   // steps of a chunk: UNROLL packs or rows; when merging, accumulators
	uint lanes;   // invocations that share a chunk of a row, a power of two; with LANES, workgroups for the columns of a chunk
	uint outBase; // word of the window where the first accumulator lies
	uint first;   // index along n of the window's first element
	uint carry;   // 1: begin with the accumulators that the output has; see lib/norm_rows.glsl
	uint divisor; // of the last step, for means
	float sign;   // elements are multiplied by it; see also lib/sum64.glsl
	float outSign;
#if defined(EPSILON)
	float eps; // with epsLow, for f64
	float epsLow;
#endif
} p;

#include "lib/accumulator.glsl"

#if defined(ROWS) && BITS == 8
#define UNROLL 1
#elif defined(ROWS) && BITS == 16
#define UNROLL 2
#elif defined(COLS) && defined(LANES)
#define UNROLL 8
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

// accumulate adds elements of a block to an accumulator. It adds those for which at < n. at
// is the index along n in this window.
void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n);
Accumulator merge(Accumulator a, Accumulator b);
Accumulator identity();
Accumulator finish(Accumulator s); // what the last step stores; all other steps store s itself

#if defined(MERGE)
#include "lib/reduce_merge.glsl"
#else

#if defined(HOST)
#undef INPUT
#define INPUT(slot, name) layout(set = 0, binding = slot) readonly buffer name##Buffer { REAL name[]; }
#endif
INPUT(0, src);
#if INPUTS == 2
INPUT(1, src2);
#define OUT_SLOT 2
#else
#define OUT_SLOT 1
#endif

// ELEM is element e of the inputs, where these are no packs.
#if INPUTS == 2
#define ELEM(e) Elem(src[e], src2[e])
#else
#define ELEM(e) src[e]
#endif

#if defined(QUAD)
#include "lib/reduce_quad.glsl"
#elif defined(FEW)
#include "lib/reduce_few.glsl"
#elif defined(ROWS)
#include "lib/reduce_rows.glsl"
#elif defined(LANES)
#include "lib/reduce_lanes.glsl"
#else
#include "lib/reduce_cols.glsl"
#endif
#endif
