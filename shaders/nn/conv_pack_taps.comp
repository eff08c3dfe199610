// Packs the filter of a convolution as nn/conv_pack_filter does, where taps and channels follow each
// other in memory, in whole packs. An invocation reads a pack of the filters of four channels of the
// result, and writes their texels.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant * TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/quads.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // invocations
	uint k;     // channels of the result
	uint kWide; // texels of them
	uint packs; // of a filter
	uint c;     // channels of the reduction, in whole texels
	uint taps;
	uint base; // in packs, as all that follows
	uint wG;
	uint wK;
} p;

INPUT(0, x);
layout(set = 0, binding = 1) writeonly buffer Packed { vec4 y[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint kWide = p.kWide, kAll = p.k, taps = p.taps, c = p.c;
	uint row = i / kWide, column = i - row * kWide, g = row / p.packs, pack = row - g * p.packs;
	uint from = p.base + g * p.wG + pack, next = p.wK;
	uvec4 r[4];
	[[unroll]] for (uint j = 0; j < 4; j++) {
		uint k = 4 * column + j;
		r[j] = mix(uvec4(0), FETCH(x, from + min(k, kAll - 1) * next), bvec4(k < kAll));
	}
	uint channel = pack * PACK / taps, tap = pack * PACK - channel * taps, to = g * taps * c;
	[[unroll]] for (uint h = 0; h < QUADS; h++) {
		mat4 t = transpose(mat4(quad(r[0], h), quad(r[1], h), quad(r[2], h), quad(r[3], h)));
		[[unroll]] for (uint j = 0; j < 4; j++) {
			y[(to + tap * c + channel) * kWide + column] = t[j];
			tap++;
			bool end_ = tap == taps;
			tap = mix(tap, 0u, end_);
			channel = mix(channel, channel + 1, end_);
		}
	}
}
