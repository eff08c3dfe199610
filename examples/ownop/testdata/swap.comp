// Swaps red and blue of pixels that are four bytes in one word.
#version 450

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer In { uint source[]; };
layout(std430, binding = 1) writeonly buffer Out { uint result[]; };

layout(push_constant) uniform Params {
	uint n; // pixels
} p;

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < p.n) {
		uint pixel = source[i];
		result[i] = pixel & 0xff00ff00 | pixel >> 16 & 255 | (pixel & 255) << 16;
	}
}
