// Copies texels backwards and adds their own number to the first component.
//
//lathe:variant u32
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // texels
} p;

layout(set = 0, binding = 0) uniform usamplerBuffer src;
layout(set = 0, binding = 1, rgba32ui) uniform writeonly uimageBuffer dst;

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < p.count)
		imageStore(dst, int(p.count - 1 - i), texelFetch(src, int(i)) + uvec4(i, 0, 0, 0));
}
