// 8, 16 and 64-bit types, subgroups and the Vulkan 1.1 extras.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer A { float16_t h[]; };
layout(std430, binding = 1) buffer B { uint8_t b[]; };
layout(std430, binding = 2) buffer C { double d[]; };
layout(std430, binding = 3) buffer D { int64_t q[]; };
layout(std430, binding = 4) buffer E { f16vec4 v[]; };
layout(push_constant) uniform Params { uint64_t base; double scale; uint n; } p;
void main() {
	uint i = gl_GlobalInvocationID.x;
	float16_t x = h[i] * float16_t(2.0) + float16_t(p.scale);
	h[i] = x;
	b[i] = uint8_t(uint(b[i]) + 1u);
	d[i] = sqrt(d[i]) * p.scale + double(x);
	q[i] = q[i] * 3l + int64_t(p.base) - int64_t(b[i]);
	precise f16vec4 w = v[i] * x + v[i + 1];
	[[unroll]] for (int k = 0; k < 4; k++) w[k] += float16_t(k);
	float s = subgroupAdd(float(i)) + subgroupMax(float(x)) + subgroupClusteredMul(float(i), 4u) + subgroupExclusiveAdd(1.0);
	uvec4 ballot = subgroupBallot(i < p.n);
	s += float(subgroupBallotBitCount(ballot)) + subgroupShuffle(s, i ^ 1u) + subgroupShuffleXor(s, 2u) + subgroupBroadcastFirst(s);
	if (subgroupAll(s > 1.0) || subgroupElect()) v[i] = w * float16_t(s);
	subgroupBarrier();
	v[i + 7] = f16vec4(gl_SubgroupSize, gl_SubgroupInvocationID, gl_NumSubgroups, gl_SubgroupID);
	h[i + gl_NumWorkGroups.x * gl_WorkGroupSize.x] = float16_t(gl_WorkGroupID.y + gl_LocalInvocationID.z);
}
