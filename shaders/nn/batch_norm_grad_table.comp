// What the last step of batch norm's gradient needs of each channel of each picture: the means of
// x̂·dy and of dy, and gamma/√(variance + eps).
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 4
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/math.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // channels of all pictures
	uint n;     // channels of a picture in the windows
	uint stats; // word of the first statistics
	uint sums;  // word of the first pair of sums
	uint pairs; // word of the first pair of gamma and beta
	uint made;  // word of the first result
	uint total; // elements of a channel
	float eps;  // with epsLow, for f64
	float epsLow;
} p;

layout(set = 0, binding = 0) readonly buffer Stats { uint stats[]; };
layout(set = 0, binding = 1) readonly buffer Sums { uint sums[]; };
layout(set = 0, binding = 2) readonly buffer Pairs { uint pairs[]; };
layout(set = 0, binding = 3) writeonly buffer Made { uint made[]; };

void main() {
	uint k = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (k >= p.count) return;
	uint c = k % p.n, at = p.stats + c * ACCUMULATOR_WORDS, sum = p.sums + c * 2 * REAL_WORDS;
	Accumulator s;
	GET_ACCUMULATOR(s, stats, at)
	REAL a, b, gamma;
	GET_REAL(a, sums, sum);
	GET_REAL(b, sums, sum + REAL_WORDS);
	GET_REAL(gamma, pairs, p.pairs + c * 2 * REAL_WORDS);
	gamma = mix(gamma, notANumber(), abs(gamma) == infinity());
	s.c = gamma / sqrt(s.b / REAL(p.total) + (REAL(p.eps) + REAL(p.epsLow)));
	s.a = a / REAL(p.total);
	s.b = b / REAL(p.total);
	PUT_ACCUMULATOR(made, p.made + k * ACCUMULATOR_WORDS, s)
}
