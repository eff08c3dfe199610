// Joins the sets of connected blocks of two areas that lie side by side. At each size all areas are
// joined by pairs, and an invocation does it for one pair, alone: so there are no races, and all
// blocks that are connected are in one set when the area is the whole image. A set is joined to the
// one with the higher rank, so that there are at most as many steps to a root as its rank.
//
// In u32.wide, for GPUs, a workgroup does a pair of areas. Its invocations find what is connected and not
// yet in one set, of 64 blocks of the border at a time, and the first of them joins that. The others may
// see labels of before a join: they are those of the same set, and a root of then leads to that of now.
//
//lathe:variant u32
//lathe:variant u32.wide WIDE
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint across; // blocks of a row
	uint down;   // rows of blocks
	uint size;   // blocks on a side of an area
	uint below;  // 1: areas two sizes wide and one below the other, 0: side by side
	uint pairs;  // pairs of areas of a row, or of a column
	uint first;  // pair of the first invocation, or of the first workgroup
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

#if defined(WIDE)
shared uint several[64]; // sets to join, of each invocation
shared uvec2 sets[3 * 64];

uvec2 own[3];
uint owns;

void add(uint a, uint b, bool linked) {
	if (!linked) return;
	a = rootOf(a);
	b = rootOf(b);
	if (a != b) own[owns++] = uvec2(a, b);
}

void joinAll(uint lane) {
	several[lane] = owns;
	barrier();
	uint before = 0, all = 0;
	for (uint k = 0; k < 64; k++) {
		before += mix(0u, several[k], k < lane);
		all += several[k];
	}
	for (uint k = 0; k < owns; k++) sets[before + k] = own[k];
	barrier();
	if (lane == 0) {
		for (uint k = 0; k < all; k++) join(sets[k].x, sets[k].y, true);
	}
	barrier();
	owns = 0;
}

#define JOIN add
#else
#define JOIN join
#endif

// joinBelow joins block i of a border with those below, and joinBeside with those to the right.
void joinBelow(uint i, uint at, uint across) {
	uint link = links[at];
	JOIN(at, at + across, (link & BELOW) != 0);
	JOIN(at, at + across + 1, (link & BELOW_RIGHT) != 0 && i + 1 < 2 * p.size);
	JOIN(at, at + across - 1, (link & BELOW_LEFT) != 0 && i > 0);
}

void joinBeside(uint i, uint at, uint across) {
	uint link = links[at];
	JOIN(at, at + 1, (link & RIGHT) != 0);
	JOIN(at, at + 1 + across, (link & BELOW_RIGHT) != 0 && i + 1 < p.size);
	JOIN(at + 1, at + across, (links[at + 1] & BELOW_LEFT) != 0 && i + 1 < p.size);
}

void main() {
#if defined(WIDE)
	uint pair = p.first + gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
	owns = 0;
#else
	uint pair = p.first + gl_GlobalInvocationID.x;
	if (pair >= p.end) return;
#endif
	uint border = p.size * (2 * (pair % p.pairs) + 1), start = pair / p.pairs * p.size;
	uint across = p.across;
#if defined(WIDE)
	start *= 1 + p.below;
	uint end = min(min(p.to, p.size * (1 + p.below)), mix(p.down, across, p.below != 0) - start);
	for (uint from = p.from; from < end; from += 64) {
		uint i = from + lane;
		if (i < end) {
			if (p.below != 0) joinBelow(i, (border - 1) * across + start + i, across);
			else joinBeside(i, (start + i) * across + border - 1, across);
		}
		joinAll(lane);
	}
#else
	if (p.below != 0) {
		start *= 2;
		uint end = min(min(p.to, 2 * p.size), across - start);
		for (uint i = p.from; i < end; i++) joinBelow(i, (border - 1) * across + start + i, across);
		return;
	}
	uint end = min(min(p.to, p.size), p.down - start);
	for (uint i = p.from; i < end; i++) joinBeside(i, (start + i) * across + border - 1, across);
#endif
}
