// A chain of pointwise image operations in one pass: grayscale, threshold,
// brightness, contrast and invert in any order. Alpha stays as it is. Single operations on
// bytes have faster kernels in pointwise_byte. An invocation makes PACKS packs, because a CPU
// driver loads each parameter lane by lane, which costs as much as the arithmetic of a pack.
//
//lathe:dtypes u8 f32
//lathe:variant *
//lathe:variant *.texel TEXEL WG=256 PACKS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#ifndef WG
#define WG 64
#define PACKS 1
#endif
layout(local_size_x = WG) in;

struct Stage {
	uint flags;
	float scale;
	float offset;
	float threshold;
};

layout(push_constant) uniform Params {
	uint columns;  // packs a row
	uint srcBase;  // first pack of the first row
	uint srcPitch; // packs from row to row
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint stages;
	Stage stage[6];
} p;

#include "lib/pixels.glsl"
#include "lib/stage.glsl"

void main() {
	uint row = gl_WorkGroupID.y, x = gl_WorkGroupID.x * (WG * PACKS) + gl_LocalInvocationID.x;
	uint from = p.srcBase + row * p.srcPitch, to = p.dstBase + row * p.dstPitch;
	uint columns = p.columns, stages = p.stages;
	[[unroll]] for (uint n = 0; n < PACKS; n++, x += WG) {
		if (x < columns) {
			RAW v = fetchPack(from + x);
			Pixel c[PACK];
			[[unroll]] for (uint k = 0; k < PACK; k++) c[k] = pixelOf(v, k);
			for (uint i = 0; i < stages; i++) {
				Stage s = p.stage[i];
				[[unroll]] for (uint k = 0; k < PACK; k++) c[k].rgb = apply(s, c[k].rgb);
			}
			storePack(to + x, c);
		}
	}
}
