// Makes white what is an edge: a strong pixel, or one that is connected with a strong one. All else
// is black, and all is opaque.
//
//lathe:dtypes u8 f32
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint column;  // first pixel to make in each row
	uint columns; // pixels to make
	uint row;     // first row to make
	uint srcBase; // pixel 0 of row 0
	uint srcPitch;
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint across;   // blocks of a row
} p;

layout(set = 0, binding = 0) readonly buffer Edges { uint edges[]; };
#if defined(U8)
layout(set = 0, binding = 1) writeonly buffer Dst { uint dst[]; };
#else
layout(set = 0, binding = 1) writeonly buffer Dst { float dst[]; };
#endif
layout(set = 0, binding = 2) readonly buffer Labels { uint labels[]; };

#include "lib/canny.glsl"

bool isLine(uint x, uint y, uint edge) {
	if (edge != WEAK) return edge != 0;
	uint v = labels[y / 2 * p.across + x / 2];
	while (v < ROOT) v = labels[v];
	return (v & LIT) != 0;
}

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i >= p.columns) return;
	uint x = p.column + i, y = p.row + gl_WorkGroupID.y, at = p.dstBase + y * p.dstPitch + x;
	bool line = isLine(x, y, edges[p.srcBase + y * p.srcPitch + x]);
#if defined(U8)
	dst[at] = mix(0xff000000u, 0xffffffffu, line);
#else
	at *= p.channels;
	float v = mix(0.0, 1.0, line);
	dst[at] = v;
	if (p.channels > 1) {
		dst[at + 1] = v;
		dst[at + 2] = v;
	}
	if (p.channels == 4) dst[at + 3] = 1.0;
#endif
}
