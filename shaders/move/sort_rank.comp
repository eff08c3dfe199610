// The positions of keys in the order of their row, for short rows. A key comes after all that are
// less, and after those before it that are equal.
//
//lathe:variant u32 KEY=1
//lathe:variant u64 KEY=2

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count;    // keys that are here, in whole rows
	uint row;      // keys of a row
	uint base, at; // where the first key and the first position are
} p;

layout(set = 0, binding = 0) readonly buffer KeyBuffer { uint keys[]; };
layout(set = 0, binding = 1) writeonly buffer PositionBuffer { uint positions[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint row = i / p.row, own = i - row * p.row, rank = 0u, from = p.base + row * p.row * KEY;
	uint low = keys[from + own * KEY], high = keys[from + own * KEY + KEY - 1];
	for (uint k = 0; k < p.row; k++) {
		uint l = keys[from + k * KEY], h = keys[from + k * KEY + KEY - 1];
#if KEY == 2
		bool less = h < high || (h == high && l < low), same = h == high && l == low;
#else
		bool less = l < low, same = l == low;
#endif
		rank += uint(less) + (uint(same) & uint(k < own));
	}
	positions[p.at + row * p.row + rank] = own;
}
