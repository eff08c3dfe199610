// Copies rows of pixels that are words, wherever they begin in a texel, on CPU drivers. What is stored is
// always a whole texel of the result. It is made of two texels of the source, if the rows do not begin at the
// same place in one. An invocation makes TEXELS that follow each other, so each texel is loaded once.
//
// The .ends variant copies the pixels of the first and of the last texel of a row, of which the row has only
// a part. An invocation does a row.
//
//lathe:variant u8.texel TEXELS=4 LOCAL=256
//lathe:variant u8.ends ENDS LOCAL=64
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = LOCAL) in;

layout(push_constant) uniform Params {
	uint columns; // pixels to copy in each row
	uint rows;
	uint srcBase; // first pixel of the first row
	uint srcPitch; // pixels from row to row
	uint dstBase;
	uint dstPitch;
	uint last; // texel of the source
} p;

#if defined(ENDS)
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { uint dst[]; };

void main() {
	uint y = gl_GlobalInvocationID.x, columns = p.columns;
	if (y >= p.rows) return;
	uint from = p.srcBase + y * p.srcPitch, to = p.dstBase + y * p.dstPitch;
	uint before = min(-to & 3u, columns), after = (columns - before) & 3u;
	[[unroll]] for (uint k = 0; k < 3; k++) {
		if (k < before) dst[to + k] = src[from + k];
		if (k < after) dst[to + columns - 1 - k] = src[from + columns - 1 - k];
	}
}
#else
#define U8
#define TEXEL
#include "lib/pixels.glsl"

void main() {
	uint first = gl_GlobalInvocationID.x * TEXELS, y = gl_WorkGroupID.y;
	uint from = p.srcBase + y * p.srcPitch, to = p.dstBase + y * p.dstPitch;
	uint before = -to & 3u, count = (p.columns - before) >> 2, last = p.last;
	if (first >= count) return;
	from += before + 4 * first;
	to = (to + before) / 4 + first;
	uint at = from >> 2, shift = from & 3u;
	bvec4 one = bvec4(shift == 1u), two = bvec4(shift == 2u), three = bvec4(shift == 3u);
	uvec4 v[TEXELS + 1];
	[[unroll]] for (uint n = 0; n <= TEXELS; n++) v[n] = fetchPack(min(at + n, last));
	[[unroll]] for (uint n = 0; n < TEXELS; n++) {
		uvec4 made = mix(v[n], uvec4(v[n].yzw, v[n + 1].x), one);
		made = mix(made, uvec4(v[n].zw, v[n + 1].xy), two);
		made = mix(made, uvec4(v[n].w, v[n + 1].xyz), three);
		if (first + n < count) storeTexel(to + n, made);
	}
}
#endif
