// image/sobel_edges of bytes for devices that run neighbouring invocations as one vector. Lumas
// are whole numbers, 32768 for each level. The variant without a suffix makes edges; those with
// .length write the length of the gradient. With .alpha, lumas are multiplied by alpha.
//
//lathe:variant u8 U8 ROWS=4
//lathe:variant u8.length U8 ROWS=4 LENGTH
//lathe:variant u8.alpha U8 ROWS=4 ALPHA
//lathe:variant u8.length.alpha U8 ROWS=4 LENGTH ALPHA
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	uint magnitude;
	float threshold; // in levels
} p;

#include "lib/stencil_halves.glsl"

// Weights of red, green and blue, in 1/32768. Their sum is 1, so that grey keeps its level.
const int RED = 9798, GREEN = 19235, BLUE = 3735;
const float SCALE = 32768.0;

// luma is made of red and blue, and of the sum of red and green.
int luma(int v) {
	int all = dotHalves(v & EVEN, (BLUE << 16) | ((RED - GREEN) & 0xffff)) + dotHalves(sumsOfBytes(v), GREEN);
#if defined(ALPHA)
	int a = (v >> 24) & 0xff;
	return mix(int(float(all) * (float(a) / 255.0)), all, a == 255);
#else
	return all;
#endif
}

// A row of three lumas, for both gradients.
struct Row {
	int across; // the last one minus the first one
	int weighed; // their sum, with the middle one twice
};

Row rowOf(uint y, uint x, inout int all) {
	uint row = rowAt(y);
	int m = pixel(row, x), l = luma(pixel(row, leftOf(x))), c = luma(m), r = luma(pixel(row, rightOf(x)));
	all &= m;
	return Row(r - l, (l + c) + (c + r));
}

// made is the result for the gradient, times SCALE.
int made(int across, int down) {
	float x = float(across), y = float(down), g = x * x + y * y;
#if defined(LENGTH)
	// Adding 2^23 rounds, and leaves the level in the lowest bits.
	return (floatBitsToInt(min(sqrt(g) / SCALE, 255.0) + 8388608.0) * 0x010101) | OPAQUE;
#else
	float least = p.threshold * SCALE;
	return mix(0, -1, g > least * abs(least)) | OPAQUE;
#endif
}

// tile makes the rows from `first` on, up to `end`, and returns the bits that all have.
int tile(uint x, uint first, uint end) {
	int all = OPAQUE;
	Row v[ROWS + 2];
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) v[r] = rowOf(first + r, x, all);
	int pair[ROWS + 1];
	[[unroll]] for (uint r = 0; r <= ROWS; r++) pair[r] = v[r].across + v[r + 1].across;
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		int word = made(pair[r] + pair[r + 1], v[r + 2].weighed - v[r].weighed);
		if (first + r < end) dst[p.dstBase + (p.row + first + r) * p.dstPitch + x] = word;
	}
	return all;
}

#if defined(ALPHA)
void main() {
	// A few groups make all tiles, so the launch costs almost nothing if there are no tiles
	// to make.
	uint tiles = flags[0] * p.tiles, across = p.across, columns = p.columns;
	for (uint i = gl_WorkGroupID.x; i < tiles; i += p.stride) {
		uint here = i % across * 64 + gl_LocalInvocationID.x;
		tile(p.column + min(here, columns - 1), i / across * ROWS, mix(0u, p.rows, here < columns));
	}
}
#else
void main() {
	uint x = gl_GlobalInvocationID.x;
	if (x >= p.columns) return;
	if (tile(p.column + x, gl_WorkGroupID.y * ROWS, p.rows) != OPAQUE) flags[0] = 1u;
}
#endif
