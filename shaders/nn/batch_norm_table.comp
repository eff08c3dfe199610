// What batch_norm_apply needs of each channel of each picture: mean − d, gamma/√(variance + eps),
// beta, and d. The statistics are accumulators of lib/moments.glsl, or pairs of mean and variance.
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
	uint per;   // channels that share statistics; 0: each channel has its own, for all pictures
	uint first; // of the channels that share statistics with the first one, those before it
	uint stats; // word of the first statistics
	uint pairs; // word of the first pair of gamma and beta
	uint made;  // word of the first result
	uint given; // 1: the statistics are pairs
	uint total; // elements that statistics are made of
	float eps;  // with epsLow, for f64
	float epsLow;
} p;

layout(set = 0, binding = 0) readonly buffer Stats { uint stats[]; };
layout(set = 0, binding = 1) readonly buffer Pairs { uint pairs[]; };
layout(set = 0, binding = 2) writeonly buffer Made { uint made[]; };

void main() {
	uint k = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (k >= p.count) return;
	uint c = k % p.n, at = c;
	if (p.per != 0) at = (p.first + k) / p.per;
	Accumulator s;
	bool endless = false; // whether an infinite gamma is NaN
	if (p.given != 0) {
		at = p.stats + at * 2 * REAL_WORDS;
		GET_REAL(s.d, stats, at);
		GET_REAL(s.b, stats, at + REAL_WORDS);
		s.a = REAL(0);
	} else {
		at = p.stats + at * ACCUMULATOR_WORDS;
		GET_ACCUMULATOR(s, stats, at)
		s.b /= REAL(p.total);
		endless = true;
	}
	uint pair = p.pairs + c * 2 * REAL_WORDS;
	REAL gamma;
	GET_REAL(gamma, pairs, pair);
	// How an infinite weight multiplies 0 depends on rounding.
	gamma = mix(gamma, notANumber(), all(bvec2(endless, abs(gamma) == infinity())));
	GET_REAL(s.c, pairs, pair + REAL_WORDS);
	s.b = gamma / sqrt(s.b + (REAL(p.eps) + REAL(p.epsLow)));
	PUT_ACCUMULATOR(made, p.made + k * ACCUMULATOR_WORDS, s)
}
