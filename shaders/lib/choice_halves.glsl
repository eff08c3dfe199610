// lib/choice.glsl of bytes, without weights of alpha, for devices that run neighbouring invocations
// as one vector. Numbers have 16 bits, two of them a word: red and blue, green and alpha.

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
} p;

#include "lib/stencil_halves.glsl"

#define VALUE ivec2
#define LEAST(a, b) ivec2(minHalves((a).x, (b).x), minHalves((a).y, (b).y))
#define MOST(a, b) ivec2(maxHalves((a).x, (b).x), maxHalves((a).y, (b).y))
VALUE valueOf(int v) { return ivec2(v & EVEN, (v >> 8) & EVEN); }
#include "lib/chosen.glsl"

void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	x += p.column;
	int all = OPAQUE, own[ROWS + 2];
	OF_ROW v[ROWS + 2];
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) {
		uint row = rowAt(first + r);
		own[r] = pixel(row, x);
		v[r] = ofRow(valueOf(pixel(row, leftOf(x))), valueOf(own[r]), valueOf(pixel(row, rightOf(x))));
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		ivec2 made = chosen(v[r], v[r + 1], v[r + 2]);
		all &= own[r + 1];
		uint y = p.row + first + r;
		if (first + r < p.rows) dst[p.dstBase + y * p.dstPitch + x] = ((made.x | (made.y << 8)) & ~OPAQUE) | (own[r + 1] & OPAQUE);
	}
	if (all != OPAQUE) flags[0] = 1u;
}
