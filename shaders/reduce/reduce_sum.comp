// Sums along an axis; means if the divisor of the last step is not 1. Integers
// wrap.
//
//lathe:dtypes f32 f16 bf16 f64 i32 i64 i8 i16 u32 u64
#version 450
#extension GL_GOOGLE_include_directive : require

#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
#include "lib/pairwise.glsl"

float add(float a, float b) { return a + b; }
int add(int a, int b) { return a + b; }
uvec2 add(uvec2 a, uvec2 b) {
	uint low = a.x + b.x;
	return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}
float mean(float x, uint n) { return x / float(n); }
// Quotients of integers are rounded towards zero. A mean of nothing is 0.
#if defined(UNSIGNED)
int mean(int x, uint n) { return n == 0u ? 0 : int(uint(x) / n); }
#define NEGATIVE(x) false
#else
int mean(int x, uint n) { return n == 0u ? 0 : x / int(n); }
#define NEGATIVE(x) ((x.y >> 31) != 0u)
#endif
uvec2 mean(uvec2 x, uint n) {
	if (n == 1u) return x;
	bool negative = NEGATIVE(x);
	uvec2 rest = mix(x, add(~x, uvec2(1u, 0u)), bvec2(negative)), quotient = uvec2(0u);
	uint left = 0u;
	[[dont_unroll]] for (uint i = 0u; i < 64u; i++) { // digit by digit; n has 31 bits
		left = left << 1 | rest.y >> 31;
		rest = uvec2(rest.x << 1, rest.y << 1 | rest.x >> 31);
		uint digit = mix(0u, 1u, all(bvec2(left >= n, n != 0u)));
		left -= n * digit;
		quotient = uvec2(quotient.x << 1 | digit, quotient.y << 1 | quotient.x >> 31);
	}
	return mix(quotient, add(~quotient, uvec2(1u, 0u)), bvec2(negative));
}
// only is x where ok, and 0 elsewhere.
float only(float x, bool ok) { return mix(0.0, x, ok); }
int only(int x, bool ok) { return mix(0, x, ok); }
uvec2 only(uvec2 x, bool ok) { return mix(uvec2(0), x, bvec2(ok)); }
#if defined(F64)
double only(double x, bool ok) { return mix(0.0LF, x, ok); }
double add(double a, double b) { return a + b; }
double mean(double x, uint n) { return x / double(n); }
#endif

Accumulator identity() { return Accumulator(REAL(0)); }
Accumulator merge(Accumulator a, Accumulator b) { return Accumulator(add(a.a, b.a)); }
Accumulator finish(Accumulator s) { return Accumulator(mean(s.a, p.divisor)); }

void accumulate(inout Accumulator s, Elem v[BLOCK], uint at[BLOCK], uint n) {
	[[unroll]] for (uint i = 0; i < BLOCK; i++) v[i] = only(v[i], at[i] < n);
	PAIRWISE(v, add)
	s.a = add(s.a, v[0]);
}
