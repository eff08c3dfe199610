// What kernels share that convolve lines whose taps are neighbours, 8 elements of a line of the result at a time. They
// read the input in packs.

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
#define RUN 8
layout(local_size_x = WG) in;

#include "lib/conv_direct.glsl"
#include "lib/shifted.glsl"

// PACKS hold the words for 8 elements and 4 taps.
#define PACKS ((STRIDE * (RUN - 1) + 7) / 4)
// WHOLE says that lines of the result begin and end with packs.
#if defined(WHOLE)
#define WORDS vec4
#else
#define WORDS float
#endif

INPUT(0, x);
INPUT(1, w);
INPUT(2, bias);
layout(set = 0, binding = 3) buffer Out { WORDS c[]; };

#if defined(TEXEL)
#define LAST textureSize(x) - 1
#else
#define LAST int(x.length()) - 1
#endif

// WORD is word i of an operand. CPU drivers read packs of texel buffers at once, and words of others one lane after the
// other.
#define WORD(name, i) wordOf(FETCH(name, (i) >> 2), i)
float wordOf(uvec4 v, uint i) {
	uvec2 two = mix(v.xy, v.zw, bvec2((i & 2u) != 0u));
	return uintBitsToFloat(mix(two.x, two.y, (i & 1u) != 0u));
}

// LOAD sets words to those from word first on, which is number at of its line. Those outside of the line are 0, and so
// are all unless there.
#define LOAD(words, first, at, there) { \
	uvec4 a_ = FETCH(x, clamp((first) >> 2, 0, last)); \
	[[unroll]] for (int k_ = 0; k_ < PACKS; k_++) { \
		uvec4 b_ = FETCH(x, clamp(((first) >> 2) + k_ + 1, 0, last)), v_ = shifted(a_, b_, uint(first)); \
		[[unroll]] for (int j_ = 0; j_ < 4; j_++) { \
			bool inside_ = uint((at) + 4 * k_ + j_) < uint(size.z); \
			inside_ = inside_ && there; \
			words[4 * k_ + j_] = mix(0.0, uintBitsToFloat(v_[j_]), inside_); \
		} \
		a_ = b_; \
	} \
}

// PUT adds the bias, and writes sums of ROWS lines. Where a launch adds to earlier ones, it does so in a loop, since
// CPU drivers run both sides of a branch. That loop has the others inside, which compilers unroll only there.
#if defined(WHOLE)
#define UNITS (RUN / 4)
#define UNIT(sum, j) vec4(sum[4 * (j)], sum[4 * (j) + 1], sum[4 * (j) + 2], sum[4 * (j) + 3])
#define ADD_UNIT(sum, j, at) { vec4 v_ = c[(at) / 4]; [[unroll]] for (uint k_ = 0; k_ < 4; k_++) sum[4 * (j) + k_] += v_[k_]; }
#define PUT_UNIT(sum, j, at) c[(at) / 4] = UNIT(sum, j)
#else
#define UNITS RUN
#define ADD_UNIT(sum, j, at) sum[j] += c[at];
#define PUT_UNIT(sum, j, at) c[at] = sum[j]
#endif
#define PUT(own, sum) { \
	uint to_ = p.outBase + own.b * p.outB + own.m * p.outK + own.line * p.o2 + own.column, rows_ = p.o1 - own.row, n_ = p.o2 - own.column; \
	float add_ = mix(WORD(bias, p.biasBase + own.m), 0.0, p.biasBase >= 0xfffffffeu); \
	[[unroll]] for (uint j_ = 0; j_ < ROWS * RUN; j_++) sum[j_] += add_; \
	[[dont_unroll]] for (uint again_ = p.biasBase; again_ == 0xfffffffeu; again_++) { \
		[[unroll]] for (uint j_ = 0; j_ < ROWS * UNITS; j_++) { \
			uint o_ = j_ / UNITS, i_ = j_ % UNITS * (RUN / UNITS); \
			ADD_UNIT(sum, j_, to_ + min(o_, rows_ - 1) * p.o2 + min(i_, n_ - 1)) \
		} \
	} \
	[[unroll]] for (uint j_ = 0; j_ < ROWS * UNITS; j_++) { \
		uint o_ = j_ / UNITS, i_ = j_ % UNITS * (RUN / UNITS); \
		if (o_ < rows_ && i_ < n_) PUT_UNIT(sum, j_, to_ + o_ * p.o2 + i_); \
	} \
}
