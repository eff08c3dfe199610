// Counts each invocation in its own cell, sixteen to a workgroup, and adds the
// position of its workgroup, so that the device suite sees each run exactly once.
//
//lathe:variant u32
#version 450

layout(local_size_x = 4, local_size_y = 2, local_size_z = 2) in;

layout(set = 0, binding = 0) buffer Cells { uint cells[]; };

void main() {
	uvec3 g = gl_WorkGroupID;
	uvec3 n = gl_NumWorkGroups;
	uint cell = (g.z * n.y + g.y) * n.x + g.x;
	uint i = cell * 16 + gl_LocalInvocationIndex;
	cells[i] = cells[i] + 1 + (g.x << 8) + (g.y << 16) + (g.z << 24);
}
