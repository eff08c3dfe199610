// Adds two vectors: the plainest kernel of the device suite.
//
//lathe:variant f32
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count;
} p;

layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer Out { float sum[]; };

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < p.count)
		sum[i] = a[i] + b[i];
}
