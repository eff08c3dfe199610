// Joins the sets of connected blocks of two areas that lie side by side. At each size all areas are
// joined by pairs, and an invocation does it for one pair, alone: so there are no races, and all
// blocks that are connected are in one set when the area is the whole image. A set is joined to the
// one with the higher rank, so that there are at most as many steps to a root as its rank.
//
//lathe:variant u32
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint across; // blocks of a row
	uint down;   // rows of blocks
	uint size;   // blocks on a side of an area
	uint below;  // 1: areas two sizes wide and one below the other, 0: side by side
	uint pairs;  // pairs of areas of a row, or of a column
	uint first;  // pair of the first invocation
	uint end;
	uint from;   // blocks of the border to join
	uint to;
} p;

layout(set = 0, binding = 0) readonly buffer Links { uint links[]; };
layout(set = 0, binding = 1) buffer Labels { uint labels[]; };

#include "lib/canny.glsl"

uint rootOf(uint at) {
	uint v = labels[at];
	while (v < ROOT) {
		at = v;
		v = labels[at];
	}
	return at;
}

void join(uint a, uint b, bool linked) {
	if (!linked) return;
	a = rootOf(a);
	b = rootOf(b);
	if (a == b) return;
	uint u = labels[a], v = labels[b], rankA = u & RANK, rankB = v & RANK;
	bool under = rankA < rankB;
	labels[mix(b, a, under)] = mix(a, b, under);
	labels[mix(a, b, under)] = ROOT | ((u | v) & LIT) | (max(rankA, rankB) + uint(rankA == rankB));
}

void main() {
	uint pair = p.first + gl_GlobalInvocationID.x;
	if (pair >= p.end) return;
	uint border = p.size * (2 * (pair % p.pairs) + 1), start = pair / p.pairs * p.size;
	uint across = p.across;
	if (p.below != 0) {
		start *= 2;
		uint end = min(min(p.to, 2 * p.size), across - start);
		for (uint i = p.from; i < end; i++) {
			uint at = (border - 1) * across + start + i, link = links[at];
			join(at, at + across, (link & BELOW) != 0);
			join(at, at + across + 1, (link & BELOW_RIGHT) != 0 && i + 1 < 2 * p.size);
			join(at, at + across - 1, (link & BELOW_LEFT) != 0 && i > 0);
		}
		return;
	}
	uint end = min(min(p.to, p.size), p.down - start);
	for (uint i = p.from; i < end; i++) {
		uint at = (start + i) * across + border - 1, link = links[at];
		join(at, at + 1, (link & RIGHT) != 0);
		join(at, at + 1 + across, (link & BELOW_RIGHT) != 0 && i + 1 < p.size);
		join(at + 1, at + across, (links[at + 1] & BELOW_LEFT) != 0 && i + 1 < p.size);
	}
}
