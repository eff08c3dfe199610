// image/box_sums for devices that run neighbouring invocations as one vector, and radii up to 25. The bits are
// the same.
//
//   down    sums down the columns. An invocation makes TALL rows of a column.
//   across  sums along the rows, and writes the picture. An invocation makes a row.
//
// Both make four pixels in a step, and store them together. Between the passes a column of TALL rows has the sums
// of red and blue, two a word, and then 256 times those of green, which takes no shift. So neighbouring columns
// are a constant apart. Steps whose pixels are all inside of the picture have a loop without conditions: an
// engine that checks addresses then looks at the first one and the last one only.
//
//lathe:variant u8.down DOWN
//lathe:variant u8.across ACROSS
//lathe:variant u8.across.opaque ACROSS OPAQUE_ONLY
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

const uint TALL = 64, COLUMN = 2 * TALL;
layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint width;     // of the picture
	int first;      // row of the picture that is made first, in down
	int last;       // the last row or column to read
	uint span;      // columns that an invocation makes in across, a multiple of 4
	int radius;
	uint base;      // of the picture to read, or, in packs of 4, to write in across
	uint pitch;     // from row to row
	uint rows;      // to write, in across
	uint imageBase; // in packs
	uint imagePitch;
} p;

// The first step whose pixels are inside, and the step after the last one. A step of four begins with
// pixel low + i, which leaves, and with high + i, which enters.
uint firstInside(int low, uint end) { return min(uint(max(-low, 0) + 3) & ~3u, end); }
uint endInside(int high, int last, uint end) { return min(uint(max(last - high + 1, 0)) & ~3u, end); }

#if defined(DOWN)
#include "lib/box_down.glsl"
#else
layout(set = 0, binding = 0) readonly buffer Src { int src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { uvec4 dst[]; };
#if !defined(OPAQUE_ONLY)
layout(set = 0, binding = 2) readonly buffer Image { uvec4 image[]; };
#endif

#include "lib/halves.glsl"
#include "lib/levels.glsl"

int red, green, blue;
float by;

// step makes four pixels of the sums before each of them. The pixels that enter and leave are at is and was.
uvec4 step(uint is[4], uint was[4]) {
	uvec4 made;
	[[unroll]] for (uint t = 0; t < 4; t++) {
		// A product that is rounded is nearer to the quotient than a half is: the number of pixels is odd, and below 2¹³.
		made[t] = packLevels(level(float(red) * by + 0.5), level(float(green) * (by / 256.0) + 0.5), level(float(blue) * by + 0.5));
		int change = subHalves(src[is[t]], src[was[t]]);
		red += dotHalves(change, 1);
		blue += dotHalves(change, 0x10000);
		green += src[is[t] + TALL] - src[was[t] + TALL];
	}
	return made;
}

uvec4 edge(uint from, int low, int high, int last) {
	uint is[4], was[4];
	[[unroll]] for (int t = 0; t < 4; t++) {
		is[t] = from + uint(clamp(high + t, 0, last)) * COLUMN;
		was[t] = from + uint(clamp(low + t, 0, last)) * COLUMN;
	}
	return step(is, was);
}

void main() {
	uint row = gl_GlobalInvocationID.x, begin = gl_WorkGroupID.y * p.span;
	if (row >= p.rows) return;
	uint from = gl_WorkGroupID.x * COLUMN * p.width + gl_LocalInvocationID.x, to = p.base + row * p.pitch + begin / 4, end = min(p.span, p.width - begin);
	int last = p.last, radius = p.radius, low = int(begin) - radius, high = low + 2 * radius + 1, side = 2 * radius + 1;
#if defined(OPAQUE_ONLY)
#define PUT(v) dst[to + i / 4] = (v) | 0xff000000u
#else
	uint alpha = p.imageBase + row * p.imagePitch + begin / 4;
#define PUT(v) dst[to + i / 4] = (v) | (image[alpha + i / 4] & 0xff000000u)
#endif
	by = 1.0 / float(side * side);
	red = green = blue = 0;
	for (int x = low; x < high; x++) {
		uint at = from + uint(clamp(x, 0, last)) * COLUMN;
		int v = src[at];
		red += v & 0xffff;
		blue += int(uint(v) >> 16);
		green += src[at + TALL];
	}
	uint i = 0, inside = firstInside(low, end), outside = endInside(high, last, end);
	for (; i < inside; i += 4) PUT(edge(from, low + int(i), high + int(i), last));
	uint is = from + uint(high + int(i)) * COLUMN, was = from + uint(low + int(i)) * COLUMN;
	for (; i < outside; i += 4) {
		PUT(step(uint[](is, is + COLUMN, is + 2 * COLUMN, is + 3 * COLUMN), uint[](was, was + COLUMN, was + 2 * COLUMN, was + 3 * COLUMN)));
		is += 4 * COLUMN;
		was += 4 * COLUMN;
	}
	for (; i < end; i += 4) PUT(edge(from, low + int(i), high + int(i), last));
}
#endif
