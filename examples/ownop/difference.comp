// The distance between two tensors, element by element: |a - b|.
#version 450

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer Out { float result[]; };

layout(push_constant) uniform Params {
	uint n;   // elements
	uint row; // invocations of a row of workgroups
} p;

void main() {
	uint i = gl_GlobalInvocationID.y * p.row + gl_GlobalInvocationID.x;
	if (i < p.n) {
		result[i] = abs(a[i] - b[i]);
	}
}
