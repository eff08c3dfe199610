// Integers that are stored as floats, added to integers of 32 bits, which wrap. An invocation makes four.
//
//lathe:variant i32
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // elements
	uint first; // 1: there is nothing to add to
} p;

layout(set = 0, binding = 0) readonly buffer X { vec4 x[]; };
layout(set = 0, binding = 1) buffer Dst { ivec4 dst[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i * 4u >= p.count) return;
	ivec4 v = ivec4(x[i]);
	if (p.first == 0u) v += dst[i];
	if (i * 4u + 4u <= p.count) {
		dst[i] = v;
	} else {
		uint left = p.count - i * 4u;
		dst[i].x = v.x;
		if (left > 1u) dst[i].y = v.y;
		if (left > 2u) dst[i].z = v.z;
	}
}
