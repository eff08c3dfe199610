// nn/conv_direct for lines whose taps are neighbours, 8 elements of a line of the result an invocation. It reads
// the input in packs. Four taps need the same words, which move on by one from tap to tap. STRIDE is the step from
// element to element of the result.
//
//lathe:variant f32 F32 STRIDE=1
//lathe:variant f32.texel F32 STRIDE=1 TEXEL
//lathe:variant f32.texel.whole F32 STRIDE=1 TEXEL WHOLE
//lathe:variant f32.two F32 STRIDE=2
//lathe:variant f32.two.texel F32 STRIDE=2 TEXEL
//lathe:variant f32.two.texel.whole F32 STRIDE=2 TEXEL WHOLE
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/conv_line.glsl"

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	Place own = placeOf(i);
	uvec3 steps = uvec3(p.sD0, p.sD1, p.sD2);
	ivec3 size = ivec3(p.i0, p.i1, p.i2), dilation = high(steps);
	ivec3 start = ivec3(own.plane, own.row, own.column) * low(steps) + ivec3(p.p0, p.p1, p.p2);
	uint from = p.inBase + own.b * p.inB + own.g * p.inG, tap = p.wBase + own.g * p.wG + own.m * p.wK;
	int r0 = int(p.cR0 >> 16), r1 = int(p.r1R2 & 0xffffu), r2 = int(p.r1R2 >> 16), last = LAST;
	uint lines = (p.cR0 & 0xffffu) * uint(r0 * r1), next = p.wC - uint(r0 * r1 * r2) * p.wTap, channel = p.inC, step_ = p.wTap;
	ivec2 r = ivec2(0);
	float sum[RUN];
	[[unroll]] for (uint j = 0; j < RUN; j++) sum[j] = 0.0;
	for (uint e = 0; e < lines; e++) {
		ivec2 at = start.xy + r * dilation.xy;
		bool there = all(lessThan(uvec2(at), uvec2(size.xy)));
		int first = int(from) + (at.x * size.y + at.y) * size.z + start.z, z = start.z;
		for (int t = 0; t < r2; t += 4) {
			float words[4 * PACKS];
			LOAD(words, first, z, there)
			[[dont_unroll]] for (int n = min(r2 - t, 4); n > 0; n--) {
				float u = WORD(w, tap);
				[[unroll]] for (int j = 0; j < RUN; j++) sum[j] += words[j * STRIDE] * u;
				[[unroll]] for (int k = 1; k < 4 * PACKS; k++) words[k - 1] = words[k];
				tap += step_;
			}
			first += 4;
			z += 4;
		}
		// The next line of taps, or the first one of the next channel.
		r.y++;
		bool end1 = r.y == r1;
		r = mix(r, ivec2(r.x + 1, 0), bvec2(end1));
		bool end0 = r.x == r0;
		r.x = mix(r.x, 0, end0);
		from += mix(0u, channel, end0);
		tap += mix(0u, next, end0);
	}
	PUT(own, sum)
}
