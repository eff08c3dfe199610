// What image/profile_byte looks up: the light of each level of each colour, which the curves of a profile make.
//
//lathe:variant u8
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	int curve; // colours of the curve, at least 2
} p;

const float FULL = 255.0;

#define TABLE_BINDING 0
#include "lib/table.glsl"

layout(set = 0, binding = 1) writeonly buffer Light { float light[]; };

void main() {
	uint level = gl_GlobalInvocationID.x;
	if (level >= 256) return;
	vec3 c = curved(vec3(float(int(level))), p.curve, vec3(float(p.curve - 1) / FULL), vec3(0.0));
	light[level] = c.r;
	light[level + 256] = c.g;
	light[level + 512] = c.b;
}
