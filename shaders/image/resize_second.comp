// The second pass of resize: sums the first pass's rows along rows, and stores them as pixels of
// the result. A workgroup makes four columns of a strip of rows.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define SRC_WIDE
#define SRC_SUM
#define FLAGS 3

layout(local_size_x = 32) in;

layout(push_constant) uniform Params {
	uint columns;  // to make
	uint rows;
	uint column;   // of the source, with which strips begin
	uint srcPitch; // floats from strip to strip
	uint dstBase;  // the first pixel to make
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint pixels;   // of an entry of the table
} p;

#include "lib/pixels.glsl"
#include "lib/resize.glsl"

layout(set = 0, binding = 2) readonly buffer Table { vec4 table[]; };

const uint STRIP = 32, COLUMNS = 4;

// ADD adds the terms of a pixel.
#define ADD(sum) { \
	vec4 w = table[entry + t]; \
	SUM c; \
	[[unroll]] for (uint k = 0; k < PARTS; k++) c[k] = src[at + k * STRIP]; \
	[[unroll]] for (uint k = 0; k < COLUMNS; k++) sum[k] += w[k] * c; \
	at += PARTS * STRIP; \
}

void main() {
	if (IDLE) return;
	uint y = gl_WorkGroupID.y * STRIP + gl_LocalInvocationID.x, x = gl_WorkGroupID.x * COLUMNS;
	if (y >= p.rows) return;
	uint pixels = p.pixels, entry = gl_WorkGroupID.x * (pixels + 1);
	uint at = gl_WorkGroupID.y * p.srcPitch + (uint(int(table[entry].x)) - p.column) * (PARTS * STRIP) + gl_LocalInvocationID.x;
	SUM sum[COLUMNS];
	[[unroll]] for (uint k = 0; k < COLUMNS; k++) sum[k] = SUM(0.0);
	entry++;
	uint t = 0;
	for (uint end = min(BLOCK, pixels); t < end; t++) ADD(sum)
	while (t < pixels) {
		SUM part[COLUMNS];
		[[unroll]] for (uint k = 0; k < COLUMNS; k++) part[k] = SUM(0.0);
		for (uint end = min(t + BLOCK, pixels); t < end; t++) ADD(part)
		[[unroll]] for (uint k = 0; k < COLUMNS; k++) sum[k] += part[k];
	}
	uint to = p.dstBase + y * p.dstPitch + x;
	[[unroll]] for (uint k = 0; k < COLUMNS; k++) {
		Pixel made[PACK];
		made[0] = finished(sum[k]);
		if (x + k < p.columns) storePack(to + k, made);
	}
}
