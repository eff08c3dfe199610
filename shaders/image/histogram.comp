// Counts the colours of an image, in histograms of BINS counts: one of luma, one of all colours, or
// one of each colour. Pixels whose alpha is 0 are not counted.
//
// WebGPU has no atomics here, so each invocation counts in a region of its own, and
// image/histogram_sum adds them. A workgroup takes every so many runs of pixels, and its
// invocations load neighbouring ones. Their counts of a level are neighbours too: the device cpu
// then knows where the counts of a workgroup are, and tests no address. A CPU driver runs both
// sides of a condition, so there is none for a pixel.
//
//lathe:dtypes u8 f32
//lathe:variant *.luma COUNT_LUMA
//lathe:variant *.all COUNT_ALL
//lathe:variant *.each COUNT_EACH
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns;  // pixels a row
	uint runs;     // runs of a row
	uint all;      // runs of all rows
	uint base;     // first pixel of the first row
	uint pitch;    // pixels from row to row
	uint channels; // floats a pixel, in f32
	uint lanes;    // invocations of a workgroup that count
	uint fresh;    // 1 if the counts begin at 0
} p;

#if defined(U8)
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
#else
layout(set = 0, binding = 0) readonly buffer Src { float src[]; };
#endif
layout(set = 0, binding = 1) buffer Counts { uint counts[]; };

#include "lib/histogram.glsl"

const uint RUN = 1024; // pixels
#if defined(COUNT_EACH)
const uint SIZE = 3 * BINS;
#else
const uint SIZE = BINS;
#endif

// note counts a pixel in a region, whose counts are step apart.
void note(uint region, uint step, uint i) {
#if defined(U8)
	uint v = src[i], one = min(v >> 24, 1u);
#if defined(COUNT_LUMA)
	counts[region + lumaLevel(v) * step] += one;
#else
	uvec3 c = uvec3(v & 0xffu, (v >> 8) & 0xffu, (v >> 16) & 0xffu);
#endif
#else
	uint at = i * p.channels, one = 1;
	vec3 rgb = vec3(src[at]);
	if (p.channels > 1) {
		rgb.gb = vec2(src[at + 1], src[at + 2]);
		if (p.channels == 4) one = src[at + 3] > 0.0 ? 1 : 0;
	}
#if defined(COUNT_LUMA)
	precise float luma = (rgb.r * 0.299 + rgb.g * 0.587) + rgb.b * 0.114;
	counts[region + binOf(p.channels == 1 ? rgb.r : luma) * step] += one;
#else
	uvec3 c = uvec3(binOf(rgb.r), binOf(rgb.g), binOf(rgb.b));
#endif
#endif
#if defined(COUNT_ALL)
	counts[region + c.r * step] += one;
	counts[region + c.g * step] += one;
	counts[region + c.b * step] += one;
#elif defined(COUNT_EACH)
	counts[region + c.r * step] += one;
	counts[region + (c.g + BINS) * step] += one;
	counts[region + (c.b + 2 * BINS) * step] += one;
#endif
}

void main() {
	uint lane = gl_LocalInvocationID.x, lanes = min(p.lanes, 64u);
	if (lane >= lanes) return;
	uint region = gl_WorkGroupID.x * lanes * SIZE + lane;
	if (p.fresh != 0) {
		for (uint i = 0; i < SIZE; i++) counts[region + i * lanes] = 0;
	}
	for (uint run = gl_WorkGroupID.x; run < p.all; run += gl_NumWorkGroups.x) {
		uint left = (run % p.runs) * RUN, from = p.base + (run / p.runs) * p.pitch + left;
		uint count = min(RUN, p.columns - left), whole = count / lanes;
		for (uint k = 0; k < whole; k++) note(region, lanes, from + k * lanes + lane);
		if (lane < count - whole * lanes) note(region, lanes, from + whole * lanes + lane);
	}
}
