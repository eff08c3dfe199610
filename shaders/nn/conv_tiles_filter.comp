// Transforms a packed filter of three by three taps for nn/conv_tiles: G·w·Gᵀ, a number for each of
// 16 matrices [channels of the reduction, channels of the result] of a group. An invocation
// transforms a texel of channels of the result.
//
//lathe:variant f32 F32
//lathe:variant f32.texel F32 TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // texels of a matrix, in all groups
	uint tap;   // texels from tap to tap of the packed filter
} p;

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform samplerBuffer w;
#define READ(name, i) texelFetch(name, int(i))
#else
layout(set = 0, binding = 0) readonly buffer Filter { vec4 w[]; };
#define READ(name, i) name[i]
#endif
layout(set = 0, binding = 1) writeonly buffer Transformed { vec4 u[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x, count = p.count;
	if (i >= count) return;
	uint tap = p.tap, g = i / tap, from = i + 8 * tap * g; // A group has nine taps.
	vec4 half_[3][4]; // after the transform along the lines
	[[unroll]] for (uint r = 0; r < 3; r++) {
		vec4 a = READ(w, from), b = READ(w, from + tap), c = READ(w, from + 2 * tap);
		vec4 ends = (a + c) * 0.5, mid = b * 0.5;
		half_[r][0] = a;
		half_[r][1] = ends + mid;
		half_[r][2] = ends - mid;
		half_[r][3] = c;
		from += 3 * tap;
	}
	[[unroll]] for (uint s = 0; s < 4; s++) {
		vec4 ends = (half_[0][s] + half_[2][s]) * 0.5, mid = half_[1][s] * 0.5;
		uint to = i + s * count;
		u[to] = half_[0][s];
		u[to + 4 * count] = ends + mid;
		u[to + 8 * count] = ends - mid;
		u[to + 12 * count] = half_[2][s];
	}
}
