// Sums along an axis; means if the divisor of the last step is not 1. Integers
// wrap.
//
//lathe:variant f32.rows F32 ROWS
//lathe:variant f32.rows.subgroup F32 ROWS SUBGROUP
//lathe:variant f32.cols F32 COLS
//lathe:variant f32.odd F32 COLS ODD
//lathe:variant f32.merge F32 MERGE
//lathe:variant f32.rows.texel F32 ROWS TEXEL
//lathe:variant f32.cols.texel F32 COLS TEXEL
//lathe:variant f32.odd.texel F32 COLS ODD TEXEL
//lathe:variant f16.rows F16 ROWS
//lathe:variant f16.rows.subgroup F16 ROWS SUBGROUP
//lathe:variant f16.cols F16 COLS
//lathe:variant f16.odd F16 COLS ODD
//lathe:variant f16.rows.texel F16 ROWS TEXEL
//lathe:variant f16.cols.texel F16 COLS TEXEL
//lathe:variant f16.odd.texel F16 COLS ODD TEXEL
//lathe:variant bf16.rows BF16 ROWS
//lathe:variant bf16.rows.subgroup BF16 ROWS SUBGROUP
//lathe:variant bf16.cols BF16 COLS
//lathe:variant bf16.odd BF16 COLS ODD
//lathe:variant bf16.rows.texel BF16 ROWS TEXEL
//lathe:variant bf16.cols.texel BF16 COLS TEXEL
//lathe:variant bf16.odd.texel BF16 COLS ODD TEXEL
//lathe:variant f64.rows F64 ROWS
//lathe:variant f64.rows.subgroup F64 ROWS SUBGROUP
//lathe:variant f64.cols F64 COLS
//lathe:variant f64.odd F64 COLS ODD
//lathe:variant f64.merge F64 MERGE
//lathe:variant i32.rows I32 ROWS
//lathe:variant i32.rows.subgroup I32 ROWS SUBGROUP
//lathe:variant i32.cols I32 COLS
//lathe:variant i32.odd I32 COLS ODD
//lathe:variant i32.merge I32 MERGE
//lathe:variant i64.rows I64 ROWS
//lathe:variant i64.rows.subgroup I64 ROWS SUBGROUP
//lathe:variant i64.cols I64 COLS
//lathe:variant i64.odd I64 COLS ODD
//lathe:variant i64.merge I64 MERGE
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/fold.glsl"
#include "lib/fold_tree.glsl"

float add(float a, float b) { return a + b; }
int add(int a, int b) { return a + b; }
uvec2 add(uvec2 a, uvec2 b) {
	uint low = a.x + b.x;
	return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}
float mean(float x, uint n) { return x / float(n); }
int mean(int x, uint n) { return x; }
uvec2 mean(uvec2 x, uint n) { return x; }
// only is x where ok, and 0 elsewhere.
float only(float x, bool ok) { return mix(0.0, x, ok); }
int only(int x, bool ok) { return mix(0, x, ok); }
uvec2 only(uvec2 x, bool ok) { return mix(uvec2(0), x, bvec2(ok)); }
#if defined(F64)
double only(double x, bool ok) { return mix(0.0LF, x, ok); }
double add(double a, double b) { return a + b; }
double mean(double x, uint n) { return x / double(n); }
#endif

State identity() { return State(REAL(0)); }
State merge(State a, State b) { return State(add(a.a, b.a)); }
State finish(State s) { return State(mean(s.a, p.divisor)); }

void absorb(inout State s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = only(v[i], at[i] < n);
	PAIRWISE(v, add)
	s.a = add(s.a, v[0]);
}
