// Weights of blocks as numbers. An invocation makes one pack of the output.
//
//lathe:variant q4_0.f32 Q4_0 F32
//lathe:variant q8_0.f32 Q8_0 F32
//lathe:variant q4_k.f32 Q4_K F32
//lathe:variant q6_k.f32 Q6_K F32
//lathe:variant q4_0.f16 Q4_0 F16
//lathe:variant q8_0.f16 Q8_0 F16
//lathe:variant q4_k.f16 Q4_K F16
//lathe:variant q6_k.f16 Q6_K F16
//lathe:variant q4_0.bf16 Q4_0 BF16
//lathe:variant q8_0.bf16 Q8_0 BF16
//lathe:variant q4_k.bf16 Q4_K BF16
//lathe:variant q6_k.bf16 Q6_K BF16
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint packs; // to write
	uint base;  // byte of the bound window at which the first block begins
	uint first; // pack of the bound window
} p;

layout(set = 0, binding = 0) readonly buffer Blocks { uint words[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { uvec4 dst[]; };

#include "lib/blocks.glsl"

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.packs) return;
	uint e = i * PACK, block = e / BLOCK, at = p.base + block * BYTES, j = e - block * BLOCK;
	REAL v[PACK];
	[[unroll]] for (uint q = 0; q < PACK; q += 4) {
		vec4 w = four(at, j + q);
		v[q] = w.x;
		v[q + 1] = w.y;
		v[q + 2] = w.z;
		v[q + 3] = w.w;
	}
	dst[p.first + i] = repack(v);
}
