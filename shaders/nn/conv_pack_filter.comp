// Packs the filter of a convolution for nn/conv_panel and nn/conv_lanes, in f32: first the
// groups, then the taps, the channels of the reduction and those of the result. Four of these
// are a texel. Zeros fill both kinds of channels up to whole texels. An invocation makes the texels of
// four channels of the reduction.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // invocations
	uint k;     // channels of the result
	uint kWide; // texels of them
	uint c;     // channels of the reduction
	uint cAll;  // and zeros
	uint taps;
	uint base;
	uint wG;
	uint wK;
	uint wC;
	uint wTap;
} p;

layout(set = 0, binding = 0) readonly buffer Filter { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Packed { vec4 y[]; };

#if BITS == 32
#define ELEMENT(name, e) uintBitsToFloat(name[e])
#else
#define ELEMENT(name, e) WIDEN(uvec4((name[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint row = i / p.kWide, column = i - row * p.kWide, quads = p.cAll / 4, line = row / quads, c = (row - line * quads) * 4, g = line / p.taps;
	uint from = p.base + g * p.wG + (line - g * p.taps) * p.wTap, to = (line * p.cAll + c) * p.kWide + column;
	[[unroll]] for (uint q = 0; q < 4; q++) {
		vec4 made;
		[[unroll]] for (uint j = 0; j < 4; j++) {
			uvec2 at = uvec2(column * 4 + j, c + q), last = uvec2(p.k, p.c) - 1;
			bool there = all(lessThanEqual(at, last));
			at = min(at, last);
			made[j] = mix(0.0, ELEMENT(x, from + at.x * p.wK + at.y * p.wC), there);
		}
		y[to + q * p.kWide] = made;
	}
}
