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
// The alpha is that of the source, or 255. If it weighs, the kernels of gaussian_blur_alpha
// write those pixels again that depend on pixels that are not opaque.
//
//lathe:variant u8.planes PLANES LOCAL=32
//lathe:variant u8.across ACROSS LOCAL=64
//lathe:variant u8.down DOWN LOCAL=64
#version 450
#extension GL_EXT_control_flow_attributes : require

const uint TAPS = 10, RADIUS = 9, BLOCK = 128; // TAPS words have 2·RADIUS + 2 numbers
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
	int even[TAPS]; // weights in 1/32768, two a word, from the first column of a word on
	int odd[TAPS];  // the same from the second one on
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

// blurred makes the weighted sums from both halves of the first word on. Words lie `by` apart.
ivec2 blurred(uint from, uint by) {
	// The last one first: an engine that checks addresses then need not check the others.
	int v = src[from + (TAPS - 1) * by];
	ivec2 sum = ivec2(products(v, p.even[TAPS - 1]), products(v, p.odd[TAPS - 1]));
	[[unroll]] for (uint i = 0; i < TAPS - 1; i++) {
		v = src[from + i * by];
		sum += ivec2(products(v, p.even[i]), products(v, p.odd[i]));
	}
	return sum;
}

#if defined(ACROSS)
void main() {
	uint pair = gl_WorkGroupID.y, pitch = p.pitch;
	uint from = pair * 6 * pitch + gl_GlobalInvocationID.x;
	uint to = (gl_WorkGroupID.x * p.pairs + pair) * (3 * BLOCK) + 2 * gl_LocalInvocationID.x;
	[[unroll]] for (uint c = 0; c < 3; c++) {
		// Levels times 128, rounded.
		ivec2 first = blurred(from + c * pitch, 1) + 128, second = blurred(from + (c + 3) * pitch, 1) + 128;
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
	ivec2 r = blurred(from, 3 * BLOCK) + HALF, g = blurred(from + BLOCK, 3 * BLOCK) + HALF, b = blurred(from + 2 * BLOCK, 3 * BLOCK) + HALF;
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
