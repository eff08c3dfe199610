// A chain of pointwise image operations in one pass: grayscale, threshold,
// brightness, contrast and invert in any order, alpha untouched. The variants
// for a single stage leave out what it does not need. An invocation makes PACKS
// packs: on a CPU driver each parameter is loaded lane by lane, which costs as
// much as the arithmetic of a pack.
//
//lathe:variant u8 U8 STAGES=6 MAY=7
//lathe:variant u8.texel U8 TEXEL WG=256 PACKS=4 STAGES=6 MAY=7
//lathe:variant u8.texel.affine U8 TEXEL WG=256 PACKS=4 STAGES=1 MAY=0
//lathe:variant u8.texel.luma U8 TEXEL WG=256 PACKS=4 STAGES=1 MAY=1
//lathe:variant u8.texel.step U8 TEXEL WG=256 PACKS=4 STAGES=1 MAY=2
//lathe:variant u8.texel.invert U8 TEXEL WG=256 PACKS=4 STAGES=0 MAY=0
//lathe:variant f32 F32 STAGES=6 MAY=7
//lathe:variant f32.texel F32 TEXEL WG=256 PACKS=4 STAGES=6 MAY=7
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#ifndef WG
#define WG 64
#define PACKS 1
#endif
layout(local_size_x = WG) in;

// A stage maps each colour component v to v·scale + offset, of the luma of the
// pixel if it is a LUMA stage. A STEP stage maps v ≥ threshold to FULL and the
// rest to 0 instead. In f32, values are clamped to 0..FULL if the stage says so;
// in u8 they always are, and offset holds the half that rounds to nearest.
const uint LUMA = 1, STEP = 2, CLAMP = 4;
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
	uint invert;   // bits to invert in each pixel, where no stages are compiled
	Stage stage[6];
} p;

#include "lib/pixels.glsl"

vec3 apply(Stage s, vec3 c) {
	uint flags = s.flags & MAY;
	c = (flags & LUMA) != 0 ? vec3(luma(c)) : c;
	vec3 v = fma(c, vec3(s.scale), vec3(s.offset));
	v = BYTES || (flags & CLAMP) != 0 ? clamp(v, 0.0, FULL + HALF) : v;
	v = (flags & STEP) != 0 ? mix(vec3(0.0), vec3(FULL), greaterThanEqual(c, vec3(s.threshold))) : v;
	// Each operation ends in a byte if pixels are bytes, so that a chain in one
	// pass equals the operations one by one. Storing rounds the last one.
	return BYTES && STAGES > 1 ? floor(v) : v;
}

void main() {
	uint row = gl_WorkGroupID.y, x = gl_WorkGroupID.x * (WG * PACKS) + gl_LocalInvocationID.x;
	uint from = p.srcBase + row * p.srcPitch, to = p.dstBase + row * p.dstPitch;
	[[unroll]] for (uint n = 0; n < PACKS; n++, x += WG) {
		if (x < p.columns) {
			RAW v = fetchPack(from + x);
#if STAGES == 0
			dst[to + x] = v ^ p.invert; // what bytes need for 255 − v
#else
			Pixel c[PACK];
			[[unroll]] for (uint k = 0; k < PACK; k++) c[k] = pixelOf(v, k);
			if (STAGES == 1) {
				[[unroll]] for (uint k = 0; k < PACK; k++) c[k].rgb = apply(p.stage[0], c[k].rgb);
			} else {
				for (uint i = 0; i < p.stages; i++) {
					Stage s = p.stage[i];
					[[unroll]] for (uint k = 0; k < PACK; k++) c[k].rgb = apply(s, c[k].rgb);
				}
			}
			storePack(to + x, c);
#endif
		}
	}
}
