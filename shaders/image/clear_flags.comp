// Clears the flags by which the kernels of a filter tell those that come after them
// that an image is not opaque.
//
//lathe:variant u32
#version 450

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) writeonly buffer Flags { uint flags[4]; };

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < 4) flags[i] = 0u;
}
