// Transforms the packed input of a convolution of three by three taps by Winograd's algorithm
// F(2×2, 3×3): A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015. A tile
// is two by two elements of the result, for which four by four positions of the input are read. They
// become 16 numbers, Bᵀ·d·B, one for each of 16 matrices [tiles, channels] of a group. An invocation
// transforms a texel of channels.
//
//lathe:variant f32 F32
//lathe:variant f32.texel F32 TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // texels of a matrix, in all groups
	uint c;     // texels of the channels
	uint tiles; // in all images
	uint down;  // tiles of an image along each axis
	uint across;
	uint line;  // texels from line to line of the packed input
	uint inG; // from group to group
	uint inB; // and from image to image
} p;

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform samplerBuffer x;
#define READ(name, i) texelFetch(name, int(i))
#else
layout(set = 0, binding = 0) readonly buffer In { vec4 x[]; };
#define READ(name, i) name[i]
#endif
layout(set = 0, binding = 1) writeonly buffer Transformed { vec4 v[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x, count = p.count;
	if (i >= count) return;
	uint c = p.c, tiles = p.tiles, across = p.across, down = p.down, line = p.line;
	uint row = i / c, g = row / tiles, tile = row - g * tiles, y = tile / across, b = y / down;
	uint from = b * p.inB + g * p.inG + 2 * ((y - b * down) * line + (tile - y * across) * c) + i - row * c;
	vec4 half_[4][4]; // after the transform along the lines
	[[unroll]] for (uint r = 0; r < 4; r++) {
		vec4 d[4];
		[[unroll]] for (uint s = 0; s < 4; s++) d[s] = READ(x, from + s * c);
		half_[r][0] = d[0] - d[2];
		half_[r][1] = d[1] + d[2];
		half_[r][2] = d[2] - d[1];
		half_[r][3] = d[1] - d[3];
		from += line;
	}
	[[unroll]] for (uint s = 0; s < 4; s++) {
		uint to = i + s * count;
		v[to] = half_[0][s] - half_[2][s];
		v[to + 4 * count] = half_[1][s] + half_[2][s];
		v[to + 8 * count] = half_[2][s] - half_[1][s];
		v[to + 12 * count] = half_[1][s] - half_[3][s];
	}
}
