// The roots of numbers of 64 bits without a sign, rounded down. None is above the limit.
//
//lathe:dtypes i64
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // results
	uint limit;
} p;

layout(set = 0, binding = 0) readonly buffer Src { uvec2 src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { uvec2 dst[]; };

// root finds the 32 digits one after the other. rest is what the digits so far leave of the digits of x so far.
uint root(uvec2 x) {
	uvec2 rest = uvec2(0u);
	uint made = 0u;
	[[dont_unroll]] for (uint i = 0u; i < 32u; i++) {
		rest = uvec2(rest.x << 2 | x.y >> 30, rest.y << 2 | rest.x >> 30);
		x = uvec2(x.x << 2, x.y << 2 | x.x >> 30);
		uvec2 step = uvec2(made << 2 | 1u, made >> 30); // (2·made + 1)² − (2·made)²
		bool less = mix(rest.y < step.y, rest.x < step.x, rest.y == step.y);
		uvec2 left = uvec2(rest.x - step.x, rest.y - step.y - mix(0u, 1u, rest.x < step.x));
		rest = mix(left, rest, bvec2(less));
		made = made << 1 | mix(1u, 0u, less);
	}
	return made;
}

void main() {
	uint i = (flatGroup() * 64 + gl_LocalInvocationID.x) * PACK;
	[[dont_unroll]] for (uint j = i; j < min(i + PACK, p.count); j++) dst[j] = uvec2(min(root(src[j]), p.limit), 0u);
}
