// Rounds f32 results to a dtype of 16 bits.
//
//lathe:dtypes f16 bf16
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // elements
} p;

layout(set = 0, binding = 0) readonly buffer Src { vec4 src[]; };
OUTPUT(1, dst);

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i * PACK >= p.count) return;
	vec4 a = src[2 * i], b = vec4(0);
	if (i * PACK + 4 < p.count) b = src[2 * i + 1];
	STORE(dst, i, repack(REAL[PACK](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w)), p.count - i * PACK);
}
