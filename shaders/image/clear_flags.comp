// Clears the flags of a filter. Its first kernels set them if an image is not opaque, and
// the kernels after them read them.
//
//lathe:variant u32
#version 450

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) writeonly buffer Flags { uint flags[4]; };

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < 4) flags[i] = 0u;
}
