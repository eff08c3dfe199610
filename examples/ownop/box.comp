// Each component of a pixel becomes the mean of the square of pixels around it. Outside of
// the picture its edge repeats. A pixel is four bytes in one word.
#version 450

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer In { uint source[]; };
layout(std430, binding = 1) writeonly buffer Out { uint result[]; };

layout(push_constant) uniform Params {
	uint width;  // pixels
	uint height; // pixels
	uint radius; // pixels to either side
} p;

void main() {
	ivec2 at = ivec2(gl_GlobalInvocationID.xy);
	ivec2 last = ivec2(p.width, p.height) - 1;
	if (at.x > last.x || at.y > last.y) {
		return;
	}
	int radius = int(p.radius);
	uvec4 sum = uvec4(0);
	for (int y = -radius; y <= radius; y++) {
		for (int x = -radius; x <= radius; x++) {
			ivec2 from = clamp(at + ivec2(x, y), ivec2(0), last);
			uint pixel = source[from.y * int(p.width) + from.x];
			sum += (uvec4(pixel) >> uvec4(0, 8, 16, 24)) & 255;
		}
	}
	uint side = 2 * p.radius + 1, count = side * side;
	uvec4 mean = (sum + count / 2) / count; // rounded
	result[at.y * int(p.width) + at.x] = mean.x | mean.y << 8 | mean.z << 16 | mean.w << 24;
}
