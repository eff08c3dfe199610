// The first pass of resize: sums pixels along columns. It makes rows of the result's height and
// the source's width, in strips of STRIP rows. In a strip all rows of a column follow each other,
// each colour for itself, so that the second pass reads rows side by side.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define DST_SUM
#define FLAGS 3

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns;  // to make
	uint srcBase;  // the pixel of row 0 in the first column
	uint srcPitch;
	uint dstBase;  // the first column in the strip
	uint dstPitch; // floats from strip to strip
	uint channels; // floats a pixel, in f32
	uint pixels;   // of an entry of the table
	uint firstTap; // pixels to sum: these and not more, if not all rows of the source are bound
	uint lastTap;
} p;

#include "lib/pixels.glsl"
#include "lib/resize.glsl"

layout(set = 0, binding = 2) readonly buffer Table { vec4 table[]; };

const uint STRIP = 32, ROWS = 4;

// ADD adds the terms of a pixel.
#define ADD(sum) { \
	vec4 w = table[entry + t]; \
	RAW v = fetchPack(at); \
	SEE(v) \
	SUM c = termOf(v, 0); \
	[[unroll]] for (uint r = 0; r < ROWS; r++) sum[r] += w[r] * c; \
	at += pitch; \
}

void main() {
	if (IDLE) return;
	uint x = gl_GlobalInvocationID.x, y = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	uint entry = gl_WorkGroupID.y * (p.pixels + 1), last = p.lastTap, first = p.firstTap;
	uint to = (y / STRIP) * p.dstPitch + (p.dstBase + x) * (PARTS * STRIP) + y % STRIP;
	uint pitch = p.srcPitch, at = p.srcBase + (uint(int(table[entry].x)) + first) * pitch + x;
	SUM sum[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) sum[r] = SUM(0.0);
	entry++;
	uint t = first;
	for (uint end = min(t + BLOCK, last); t < end; t++) ADD(sum)
	while (t < last) {
		SUM part[ROWS];
		[[unroll]] for (uint r = 0; r < ROWS; r++) part[r] = SUM(0.0);
		for (uint end = min(t + BLOCK, last); t < end; t++) ADD(part)
		[[unroll]] for (uint r = 0; r < ROWS; r++) sum[r] += part[r];
	}
	if (first > 0) {
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			[[unroll]] for (uint c = 0; c < PARTS; c++) sum[r][c] += dst[to + c * STRIP + r];
		}
	}
	[[unroll]] for (uint c = 0; c < PARTS; c++) {
		[[unroll]] for (uint r = 0; r < ROWS; r++) dst[to + c * STRIP + r] = sum[r][c];
	}
	TELL
}
