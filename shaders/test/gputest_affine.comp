// Maps x to x·scale + shift in integers. Chains of it do not commute, so the
// device suite sees from the result in which order they ran. The two buffers
// may be the same one.
//
//lathe:variant u32
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count;
	uint scale;
	uint shift;
} p;

layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { uint dst[]; };

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < p.count)
		dst[i] = src[i] * p.scale + p.shift;
}
