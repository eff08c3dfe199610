// Draws a token of each row by its weight, 2^26·exp((logit − the largest logit) / temperature), rounded down. All weights and sums are whole numbers of
// up to 46 bits, and what is before them is rounded operation by operation. So every device draws the same token. A workgroup takes a row,
// and each invocation a chunk of it.
//
// Sorted rows are pairs of a key and a token. Others are keys, whose places are the tokens.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "lib/philox_rounds.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count, base;      // keys of a row that count, and where the first one is
	uint row, words;       // words from row to row, and of a key
	uint first;            // the number of the first row
	uint stepBase, outBase; // where the step and the first token are
	uint share;            // 2^16·top_p, or 0 if all tokens are kept
	uint greedy;           // 1: the largest logit alone
	uint keyLow, keyHigh;  // of Philox
	float inverse;         // of the temperature
	uint zero;             // always 0, which compilers do not know
} p;

layout(set = 0, binding = 0) readonly buffer Keys { uint keys[]; };
layout(set = 0, binding = 1) readonly buffer Steps { uint steps[]; };
layout(set = 0, binding = 2) writeonly buffer Out { uint tokens[]; };

shared uvec2 sums[WG];
shared uint firsts[WG];

uint key(uint row, uint j) { return keys[p.base + row * p.row + j * p.words]; }

float logit(uint k) { return uintBitsToFloat((k >> 31) != 0u ? k : ~k & 0x7fffffffu); }

// product and sum are rounded by themselves.
float product(float a, float b) { return uintBitsToFloat(floatBitsToUint(a * b) ^ p.zero); }
float sum(float a, float b) { return uintBitsToFloat(floatBitsToUint(a + b) ^ p.zero); }

// Sums and comparisons of 64 bits, low word first.
uvec2 plus(uvec2 a, uvec2 b) { uint low = a.x + b.x; return uvec2(low, a.y + b.y + (low < b.x ? 1u : 0u)); }
bool less(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

// weight is that of a logit x, if the largest one is most.
uint weight(float x, float most) {
	if (x == most) return 1u << 26;
	if (p.greedy != 0u) return 0u;
	// The difference comes first: the quotient of a logit may be more than f32 holds. What some devices take for 0 counts as 0.
	float d = sum(x, -most), y = product(product(d, p.inverse), 1.44269504);
	if (d > -1.17549435e-38) return 1u << 26;
	if (!(y > -27.0)) return 0u;
	if (y > -1e-20) return 1u << 26;
	float n = floor(y), r = sum(y, -n);
	float v = 1.8775767e-3; // 2^r for r of 0 to 1
	v = sum(product(v, r), 8.9893397e-3);
	v = sum(product(v, r), 5.5826318e-2);
	v = sum(product(v, r), 2.4015361e-1);
	v = sum(product(v, r), 6.9315308e-1);
	v = sum(product(v, r), 1.0);
	return uint(int(product(v, uintBitsToFloat(uint(int(n) + 26 + 127) << 23))));
}

void main() {
	uint me = gl_LocalInvocationID.x, row = gl_WorkGroupID.x, chunk = (p.count + WG - 1u) / WG, begin = min(me * chunk, p.count), end = min(begin + chunk, p.count);
	uint least = 0xffffffffu;
	for (uint j = begin; j < end; j++) least = min(least, key(row, j));
	firsts[me] = least;
	barrier();
	for (uint i = 0u; i < WG; i++) least = min(least, firsts[i]);
	float most = logit(least);
	uvec2 own = uvec2(0u);
	for (uint j = begin; j < end; j++) own = plus(own, uvec2(weight(logit(key(row, j)), most), 0u));
	sums[me] = own;
	barrier();
	uvec2 before = uvec2(0u), total = uvec2(0u);
	for (uint i = 0u; i < WG; i++) {
		if (i == me) before = total;
		total = plus(total, sums[i]);
	}
	uvec2 after = plus(before, own);
	barrier();
	if (p.share != 0u) { // The tokens that begin below this limit are kept.
		uvec2 low = plus(uvec2((total.x & 0xffffu) * p.share >> 16, 0u), uvec2((total.x >> 16) * p.share, 0u));
		uint high = total.y * p.share;
		uvec2 limit = plus(low, uvec2(high << 16, high >> 16));
		if (limit == uvec2(0u)) limit.x = 1u;
		if (less(before, limit) && !less(after, limit)) {
			uvec2 s = before;
			for (uint j = begin; j < end && less(s, limit); j++) s = plus(s, uvec2(weight(logit(key(row, j)), most), 0u));
			sums[0] = s;
		}
		barrier();
		total = sums[0];
	}
	uvec2 target = uvec2(0u); // total·word/2^32
	if (p.greedy == 0u) {
		uvec4 words = philox(uvec4(steps[p.stepBase], 0u, p.first + row, 0u), p.keyLow, p.keyHigh);
		target = plus(uvec2(highProduct(total.x, words.x), 0u), uvec2(total.y * words.x, highProduct(total.y, words.x)));
	}
	if (less(target, before) || !less(target, after)) return;
	uint at = begin;
	uvec2 s = before;
	for (uint j = begin; j < end && !less(target, s); j++) {
		s = plus(s, uvec2(weight(logit(key(row, j)), most), 0u));
		at = j;
	}
	if (p.words == 2u) at = keys[p.base + row * p.row + 2u * at + 1u];
	tokens[p.outBase + row] = at;
}
