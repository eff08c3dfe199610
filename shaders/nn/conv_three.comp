// nn/conv_line for windows of 3×3 elements, with ROWS lines of the result an invocation, which share lines of the
// input and the filter. STRIDE is the step from element to element of the result along both axes.
//
//lathe:variant f32.texel F32 STRIDE=1 ROWS=4
//lathe:variant f32.texel.whole F32 STRIDE=1 ROWS=4 WHOLE
//lathe:variant f32.two.texel F32 STRIDE=2 ROWS=2
//lathe:variant f32.two.texel.whole F32 STRIDE=2 ROWS=2 WHOLE
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define TEXEL
#include "lib/conv_line.glsl"

// LINE adds products of line nth of the input to the sums, and PART those of line o of the result. They are no loops,
// because compilers do not unroll loops with branches.
#define PART(nth, o) \
	if ((o) < ROWS && (nth) >= (o) * STRIDE && (nth) < (o) * STRIDE + 3) { \
		[[unroll]] for (int k = 0; k < 3; k++) { \
			[[unroll]] for (int j = 0; j < RUN; j++) sum[(o) * RUN + j] += words[j * STRIDE + k] * u[3 * ((nth) - (o) * STRIDE) + k]; \
		} \
	}
#define LINE(nth) { \
	float words[4 * PACKS]; \
	bool there = uint(start.y + nth) < uint(size.y); \
	there = there && within; \
	LOAD(words, first + nth * size.z, start.z, there) \
	PART(nth, 0) PART(nth, 1) PART(nth, 2) PART(nth, 3) \
}

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	Place own = placeOf(i);
	uvec3 steps = uvec3(p.sD0, p.sD1, p.sD2);
	ivec3 size = ivec3(p.i0, p.i1, p.i2), start = ivec3(own.plane, own.row, own.column) * low(steps) + ivec3(p.p0, p.p1, p.p2);
	uint from = p.inBase + own.b * p.inB + own.g * p.inG, tap = p.wBase + own.g * p.wG + own.m * p.wK;
	int r0 = int(p.cR0 >> 16), far = int(p.sD0 >> 16), last = LAST, plane = start.x;
	uint planes = (p.cR0 & 0xffffu) * uint(r0), next = p.wC - uint(9 * r0) * p.wTap, channel = p.inC, step_ = p.wTap;
	int r = 0;
	float sum[ROWS * RUN];
	[[unroll]] for (uint j = 0; j < ROWS * RUN; j++) sum[j] = 0.0;
	for (uint e = 0; e < planes; e++) {
		float u[9];
		[[unroll]] for (uint j = 0; j < 9; j++) u[j] = WORD(w, tap + j * step_);
		tap += 9u * step_;
		bool within = uint(plane) < uint(size.x);
		int first = int(from) + (plane * size.y + start.y) * size.z + start.z;
		LINE(0) LINE(1) LINE(2) LINE(3) LINE(4)
#if STRIDE == 1
		LINE(5)
#endif
		// The next plane of the window, or the first one of the next channel.
		r++;
		plane += far;
		bool end = r == r0;
		r = mix(r, 0, end);
		plane = mix(plane, start.x, end);
		from += mix(0u, channel, end);
		tap += mix(0u, next, end);
	}
	PUT(own, sum)
}
