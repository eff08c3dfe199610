// Gaussian blur of RGBA bytes for devices that run neighbouring invocations as one vector.
// Positions are in range without tests, because the planes repeat the pixels at the edges.
// Numbers have 16 bits, two of them a word, so that a sum of two products is one instruction:
//
//   planes  makes a plane of each colour, RADIUS columns and rows wider on each side. A word has
//           two neighbouring columns.
//   across  blurs along rows. A word of the result has the same column of two rows. Blocks of
//           BLOCK columns follow each other, so that rows of a block are a constant apart.
//   down    blurs along columns, and writes the picture
//
// The variants with a number of 14 or more are for larger radii. Their weights are in a buffer, which
// image/gaussian_blur_lanes_table makes. Those with 4 are for radii up to 3.
//
// The alpha is that of the source, or 255. If it weighs, the kernels of gaussian_blur_alpha
// write those pixels again that depend on pixels that are not opaque.
//
//lathe:variant u8.planes PLANES LOCAL=32
//lathe:variant u8.across.4 ACROSS LOCAL=64 TAPS=4
//lathe:variant u8.across ACROSS LOCAL=64 TAPS=10
//lathe:variant u8.across.14 ACROSS LOCAL=64 TAPS=14 WEIGHTS=2
//lathe:variant u8.across.19 ACROSS LOCAL=64 TAPS=19 WEIGHTS=2
//lathe:variant u8.across.27 ACROSS LOCAL=64 TAPS=27 WEIGHTS=2
//lathe:variant u8.down.4 DOWN LOCAL=64 TAPS=4
//lathe:variant u8.down DOWN LOCAL=64 TAPS=10
//lathe:variant u8.down.14 DOWN LOCAL=64 TAPS=14 WEIGHTS=3
//lathe:variant u8.down.19 DOWN LOCAL=64 TAPS=19 WEIGHTS=3
//lathe:variant u8.down.27 DOWN LOCAL=64 TAPS=27 WEIGHTS=3
#version 450
#extension GL_EXT_control_flow_attributes : require

// TAPS words have 2·radius + 2 numbers, of a radius of TAPS − 1. That of planes is a parameter.
const uint BLOCK = 128;
layout(local_size_x = LOCAL) in;

layout(push_constant) uniform Params {
	int column;    // of the picture, of the first column of the planes
	int row;       // the same of rows
	int width;     // columns and rows of the picture, or of the result
	int height;
	uint pairs;    // of rows between the passes
	uint pitch;    // words from plane to plane; a row has three
	uint srcBase;  // pixel of row 0
	uint srcPitch; // pixels from row to row
	uint dstBase;
	uint dstPitch;
	uint opaque;   // 1: the result is opaque
	uint spare;
	int even[10]; // weights in 1/32768, two a word, from the first column of a word on
	int odd[10];  // the same from the second one on
} p;

#if defined(DOWN)
layout(set = 0, binding = 2) readonly buffer Image { uint image[]; };
#elif defined(PLANES)
layout(set = 0, binding = 2) writeonly buffer Flags { uint flags[4]; };
#endif
layout(set = 0, binding = 0) readonly buffer Src { int src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { int dst[]; };

#if defined(PLANES)
int pixel(uint row, int x) { return src[row + uint(clamp(x, 0, p.width - 1))]; }

void main() {
	uint x = gl_GlobalInvocationID.x, line = gl_WorkGroupID.y, pitch = p.pitch;
	uint row = p.srcBase + uint(clamp(p.row + int(line), 0, p.height - 1)) * p.srcPitch;
	int a = pixel(row, 2 * int(x) + p.column), b = pixel(row, 2 * int(x) + 1 + p.column);
	uint to = line * 3 * pitch + x;
	dst[to] = (a & 0xff) | ((b & 0xff) << 16);
	dst[to + pitch] = ((a >> 8) & 0xff) | ((b & 0xff00) << 8);
	dst[to + 2 * pitch] = ((a >> 16) & 0xff) | (b & 0xff0000);
	if (uint(a & b) < 0xff000000u) flags[0] = 1u;
}
#else
// products is the sum of the products of the halves of two words.
int products(int a, int b) { return bitfieldExtract(a, 0, 16) * bitfieldExtract(b, 0, 16) + (a >> 16) * (b >> 16); }

#if defined(WEIGHTS)
layout(set = 0, binding = WEIGHTS) readonly buffer Weights { int weights[]; };
#define EVEN(i) weights[2 * (i)]
#define ODD(i) weights[2 * (i) + 1]
#else
#define EVEN(i) p.even[i]
#define ODD(i) p.odd[i]
#endif

// blurred makes the weighted sums from both halves of the first word on, of COUNT lines that lie
// `next` apart. The words of a line lie `by` apart.
#if defined(ACROSS)
const uint COUNT = 6;
#else
const uint COUNT = 3;
#endif
void blurred(uint from, uint by, uint next, out ivec2 sum[COUNT]) {
	// The last one first: an engine that checks addresses then need not check the others.
	int even[TAPS], odd[TAPS];
	[[unroll]] for (uint k = 1; k <= TAPS; k++) {
		odd[TAPS - k] = ODD(TAPS - k);
		even[TAPS - k] = EVEN(TAPS - k);
	}
	[[unroll]] for (uint c = 0; c < COUNT; c++) {
		int v = src[from + c * next + (TAPS - 1) * by];
		sum[c] = ivec2(products(v, even[TAPS - 1]), products(v, odd[TAPS - 1]));
		[[unroll]] for (uint i = 0; i < TAPS - 1; i++) {
			v = src[from + c * next + i * by];
			sum[c] += ivec2(products(v, even[i]), products(v, odd[i]));
		}
	}
}

#if defined(ACROSS)
void main() {
	uint pair = gl_WorkGroupID.y, pitch = p.pitch;
	uint from = pair * 6 * pitch + gl_GlobalInvocationID.x;
	uint to = (gl_WorkGroupID.x * p.pairs + pair) * (3 * BLOCK) + 2 * gl_LocalInvocationID.x;
	ivec2 sum[COUNT];
	blurred(from, 1, pitch, sum);
	[[unroll]] for (uint c = 0; c < 3; c++) {
		// Levels times 128, rounded.
		ivec2 first = sum[c] + 128, second = sum[c + 3] + 128;
		ivec2 both = (first >> 8) | ((second << 8) & int(0xffff0000u));
		dst[to + c * BLOCK] = both.x;
		dst[to + c * BLOCK + 1] = both.y;
	}
}
#else
void main() {
	uint pair = gl_WorkGroupID.y, part = gl_WorkGroupID.x * LOCAL, x = gl_GlobalInvocationID.x;
	if (x >= uint(p.width)) return;
	uint from = (part / BLOCK * p.pairs + pair) * (3 * BLOCK) + part % BLOCK + gl_LocalInvocationID.x;
	const int HALF = 1 << 21;
	ivec2 sum[COUNT];
	blurred(from, 3 * BLOCK, BLOCK, sum);
	ivec2 r = sum[0] + HALF, g = sum[1] + HALF, b = sum[2] + HALF;
	ivec2 rgb = (r >> 22) | ((g >> 14) & 0xff00) | ((b >> 6) & 0xff0000);
	uint at = p.srcBase + 2 * pair * p.srcPitch + x, to = p.dstBase + 2 * pair * p.dstPitch + x;
	bool more = 2 * pair + 1 < uint(p.height);
	if (p.opaque != 0u) {
		dst[to] = rgb.x | int(0xff000000u);
		if (more) dst[to + p.dstPitch] = rgb.y | int(0xff000000u);
	} else {
		dst[to] = rgb.x | int(image[at] & 0xff000000u);
		if (more) dst[to + p.dstPitch] = rgb.y | int(image[at + p.srcPitch] & 0xff000000u);
	}
}
#endif
#endif
