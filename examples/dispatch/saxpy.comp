// y = a·x + y
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint n; // elements
	float a;
};

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < n) {
		y[i] = a * x[i] + y[i];
	}
}
