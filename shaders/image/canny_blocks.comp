// For the edges that image/canny found: with which neighbours each block of two by two pixels is
// connected, and a label of its own. See lib/canny.glsl.
//
//lathe:variant u32
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint width;  // pixels of the image
	uint height;
	uint row;    // first row of blocks to make
	uint column; // first block to make in each row
	uint across; // blocks of a row
	uint base;   // pixel of row 0
} p;

layout(set = 0, binding = 0) readonly buffer Edges { uint edges[]; };
layout(set = 0, binding = 1) writeonly buffer Links { uint links[]; };
layout(set = 0, binding = 2) writeonly buffer Labels { uint labels[]; };

#include "lib/canny.glsl"

uint edgeAt(uint x, uint y) {
	bool inside = all(bvec2(x < p.width, y < p.height)); // left of column 0 is no column either
	return mix(0u, edges[p.base + min(y, p.height - 1) * p.width + min(x, p.width - 1)], inside);
}

void main() {
	uint i = p.column + gl_GlobalInvocationID.x, row = p.row + gl_WorkGroupID.y;
	if (i >= p.across) return;
	uint x = 2 * i, y = 2 * row;
	uint a = edgeAt(x, y), b = edgeAt(x + 1, y), c = edgeAt(x, y + 1), d = edgeAt(x + 1, y + 1);
	uint next = edgeAt(x + 2, y) | edgeAt(x + 2, y + 1), under = edgeAt(x, y + 2) | edgeAt(x + 1, y + 2);
	uint link = 0;
	if (all(bvec2((b | d) != 0, next != 0))) link |= RIGHT;
	if (all(bvec2((c | d) != 0, under != 0))) link |= BELOW;
	if (all(bvec2(d != 0, edgeAt(x + 2, y + 2) != 0))) link |= BELOW_RIGHT;
	if (all(bvec2(c != 0, edgeAt(x - 1, y + 2) != 0))) link |= BELOW_LEFT;
	links[row * p.across + i] = link;
	labels[row * p.across + i] = ROOT | mix(0u, LIT, ((a | b | c | d) & STRONG) != 0);
}
