// y = a·x + y, the smallest kernel with everything in it: two buffers and a
// parameter of each kind. The guide launches it.
//
//lathe:variant f32
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint n; // elements
	float a;
} p;

layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < p.n) {
		y[i] = p.a * x[i] + y[i];
	}
}
