// image/sharpen of bytes, without weights of alpha, for devices that run neighbouring invocations
// as one vector. Numbers have 16 bits, two of them a word: red and blue, green and alpha.
//
//lathe:variant u8 U8 ROWS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
} p;

#include "lib/stencil_halves.glsl"

void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	x += p.column;
	int v[ROWS + 2], all = OPAQUE;
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) v[r] = pixel(rowAt(first + r), x);
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		uint row = rowAt(first + r + 1);
		int n = v[r], c = v[r + 1], s = v[r + 2], w = pixel(row, leftOf(x)), e = pixel(row, rightOf(x));
		all &= c;
		// Of green and alpha, all but the minimum and the maximum is linear: it is computed of sums of two colours.
		int even = subHalves(mulHalves(c & EVEN, 0x00050005), (n & EVEN) + (s & EVEN) + (w & EVEN) + (e & EVEN));
		int sums = subHalves(mulHalves(sumsOfBytes(c), 0x00050005), sumsOfBytes(n) + sumsOfBytes(s) + sumsOfBytes(w) + sumsOfBytes(e));
		int odd = subHalves(sums, even);
		even = minHalves(maxHalves(even, 0), EVEN);
		odd = minHalves(maxHalves(odd, 0), EVEN);
		int made = even | mulHalves(odd, 0x01000100);
		uint y = p.row + first + r;
		if (first + r < p.rows) dst[p.dstBase + y * p.dstPitch + x] = (made & ~OPAQUE) | (c & OPAQUE);
	}
	if (all != OPAQUE) flags[0] = 1u;
}
