// Repeats the elements of a tensor: element i is element i / run % period of it.
//
//lathe:variant f32 F32
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // elements to make
	uint run;
	uint period;
} p;

layout(set = 0, binding = 0) readonly buffer Src { REAL src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { REAL dst[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i < p.count) dst[i] = src[i / p.run % p.period];
}
