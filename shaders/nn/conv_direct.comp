// Convolution, RUN elements of a line of the result an invocation. It reads its operands where they lie,
// so it serves every shape. The result has the type of the arithmetic. The reduction is one
// loop over the channels and taps of the launch. Where a tap falls outside of the input, or
// between its elements in an APART variant, it reads the first element of the window and
// multiplies by 0. CPU drivers take long runs, because much of a step is the same for a run.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant * RUN=1
//lathe:variant *.apart RUN=1 APART
//lathe:variant {f32}.run RUN=8
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

#include "lib/conv_direct.glsl"

#if BITS == 64
#define WORD uvec2
#else
#define WORD uint
#endif
layout(set = 0, binding = 0) readonly buffer In { WORD x[]; };
layout(set = 0, binding = 1) readonly buffer Filter { WORD w[]; };
layout(set = 0, binding = 2) readonly buffer Bias { WORD bias[]; };
layout(set = 0, binding = 3) buffer Out { REAL c[]; };

#if BITS == 64
#define ELEMENT(name, e) packDouble2x32(name[e])
#elif BITS == 32
#define ELEMENT(name, e) uintBitsToFloat(name[e])
#else
#define ELEMENT(name, e) WIDEN(uvec4((name[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	Place own = placeOf(i);
	uint b = own.b, m = own.m, g = own.g;
	uvec3 steps = uvec3(p.sD0, p.sD1, p.sD2);
	ivec3 size = ivec3(p.i0, p.i1, p.i2), dilation = high(steps), stride = low(steps);
	ivec3 start = ivec3(own.plane, own.row, own.column) * stride + ivec3(p.p0, p.p1, p.p2);
	ivec3 apart = low(uvec3(p.l0L1, p.l0L1 >> 16, p.l2));
	uint from = p.inBase + b * p.inB + g * p.inG, tap = p.wBase + g * p.wG + m * p.wK;
	int r0 = int(p.cR0 >> 16), r1 = int(p.r1R2 & 0xffffu), r2 = int(p.r1R2 >> 16);
	uint depth = (p.cR0 & 0xffffu) * uint(r0 * r1 * r2), next = p.wC - uint(r0 * r1 * r2) * p.wTap;
	uint channel = p.inC, step_ = p.wTap;
	ivec3 r = ivec3(0);
	REAL sum[RUN];
	[[unroll]] for (uint j = 0; j < RUN; j++) sum[j] = REAL(0);
	for (uint e = 0; e < depth; e++) {
		ivec3 at = start + r * dilation;
#if defined(APART)
		ivec3 position = at;
		at = position / apart;
		bool whole = all(equal(at * apart, position));
#else
		const bool whole = true;
#endif
		bool there = all(lessThan(uvec2(at.xy), uvec2(size.xy)));
		there = there && whole;
		uint first = from + uint((at.x * size.y + at.y) * size.z);
		REAL u = ELEMENT(w, tap);
		[[unroll]] for (int j = 0; j < RUN; j++) {
			int z = at.z + j * stride.z;
			bool inside = uint(z) < uint(size.z);
			inside = inside && there;
			uint place = mix(0u, first + uint(z), inside);
			REAL v = mix(REAL(0), ELEMENT(x, place), inside);
			sum[j] += v * u;
		}
		// The next tap, or the first tap of the next channel.
		tap += step_;
		r.z++;
		bool end2 = r.z == r2;
		r.yz = mix(r.yz, ivec2(r.y + 1, 0), bvec2(end2));
		bool end1 = r.y == r1;
		r.xy = mix(r.xy, ivec2(r.x + 1, 0), bvec2(end1));
		bool end0 = r.x == r0;
		r.x = mix(r.x, 0, end0);
		from += mix(0u, channel, end0);
		tap += mix(0u, next, end0);
	}
	uint to = p.outBase + b * p.outB + m * p.outK + own.line * p.o2 + own.column;
	REAL add = REAL(0);
	if (p.biasBase < 0xfffffffeu) add = ELEMENT(bias, p.biasBase + m);
	[[unroll]] for (uint j = 0; j < RUN; j++) {
		if (own.column + j < p.o2) {
			REAL made = sum[j] + add;
			if (p.biasBase == 0xfffffffeu) made += c[to + j];
			c[to + j] = made;
		}
	}
}
