// Reverses the elements of each subgroup through registers. After each 64 elements it writes
// how many invocations the subgroups of the workgroup had.
//
//lathe:variant u32
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) buffer Data { uint data[]; };

void main() {
	uint l = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
	uint at = gl_WorkGroupID.x * 128 + l;
	data[at] = subgroupShuffle(data[at], gl_SubgroupSize - 1 - gl_SubgroupInvocationID);
	data[at + 64] = gl_SubgroupSize;
}
