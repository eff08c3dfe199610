// Reverses every 64 elements through workgroup memory, across a barrier.
//
//lathe:variant u32
#version 450

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) buffer Data { uint data[]; };

shared uint tile[64];

void main() {
	uint i = gl_GlobalInvocationID.x;
	uint l = gl_LocalInvocationID.x;
	tile[l] = data[i];
	barrier();
	data[i] = tile[63 - l];
}
