// A chain of pointwise image operations in one pass, among them matrices, curves and vibrance.
// Alpha stays as it is. The stages lie in memory. Those with CURVES have curves too: in u8 these are
// tables of 256 words, each with a byte for each colour. Chains that need none of these are
// run by image/pointwise, which is faster.
//
//lathe:dtypes u8 f32
//lathe:variant *
//lathe:variant *.texel TEXEL WG=256
//lathe:variant *.curves CURVES
//lathe:variant *.curves.texel TEXEL WG=256 CURVES
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#ifndef WG
#define WG 64
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
	uint first;    // word of the first stage
	uint stages;
} p;

#include "lib/pixels.glsl"
#include "lib/stage.glsl"

// A stage has 16 words: its kind, flags or channels, and numbers.
layout(set = 0, binding = 2) readonly buffer Words { uint word[]; };
const uint PLAIN = 0, MATRIX = 1, VIBRANCE = 2, TABLE = 3, POWER = 4, SPLINE = 5, SIZE = 16;

float number(uint i) { return uintBitsToFloat(word[i]); }

// toRange rounds bytes down to levels, and clamps.
vec3 toRange(vec3 v) { return BYTES ? vec3(clamp(ivec3(v), 0, 255)) : clamp(v, 0.0, FULL); }

float row(uint at, vec3 c) {
	precise float v = ((c.r * number(at) + c.g * number(at + 1)) + c.b * number(at + 2)) + number(at + 3);
	return v;
}

vec3 vibrance(float amount, vec3 c) {
	float y = luma(c), s = (max(max(c.r, c.g), c.b) - min(min(c.r, c.g), c.b)) / FULL;
	return y + (c - y) * (1.0 + amount * (1.0 - s)) + HALF;
}

#if defined(CURVES) && !defined(U8)
#include "lib/curve.glsl"
#endif

void main() {
	uint line = gl_WorkGroupID.y, x = gl_GlobalInvocationID.x;
	if (x >= p.columns) return;
	RAW v = fetchPack(p.srcBase + line * p.srcPitch + x);
	Pixel c[PACK];
	[[unroll]] for (uint k = 0; k < PACK; k++) c[k] = pixelOf(v, k);
	uint stages = p.stages, at = p.first;
	for (uint i = 0; i < stages; i++, at += SIZE) {
		uint kind = word[at], flags = word[at + 1], body = at + 2;
		if (kind == PLAIN) {
			Stage s = Stage(flags, number(body), number(body + 1), number(body + 2));
			[[unroll]] for (uint k = 0; k < PACK; k++) c[k].rgb = apply(s, c[k].rgb);
		}
		if (kind == MATRIX) {
			[[unroll]] for (uint k = 0; k < PACK; k++) c[k].rgb = toRange(vec3(row(body, c[k].rgb), row(body + 4, c[k].rgb), row(body + 8, c[k].rgb)));
		}
		if (kind == VIBRANCE) {
			float amount = number(body);
			[[unroll]] for (uint k = 0; k < PACK; k++) c[k].rgb = toRange(vibrance(amount, c[k].rgb));
		}
#if defined(CURVES) && defined(U8)
		if (kind == TABLE) {
			uint table = word[at + 3];
			[[unroll]] for (uint k = 0; k < PACK; k++) {
				uvec3 level = uvec3(ivec3(c[k].rgb)) + table;
				c[k].rgb = vec3(ivec3(word[level.r] & 0xffu, (word[level.g] >> 8) & 0xffu, word[level.b] >> 16));
			}
		}
#elif defined(CURVES)
		bvec3 has = notEqual(uvec3(flags) & uvec3(1, 2, 4), uvec3(0));
		if (kind == POWER) {
			[[unroll]] for (uint k = 0; k < PACK; k++) c[k].rgb = mix(c[k].rgb, clamp(powerStage(body, c[k].rgb), 0.0, 1.0), has);
		}
		if (kind == SPLINE) {
			uint from = word[at + 3], count = word[at + 4];
			float end = number(body);
			[[unroll]] for (uint k = 0; k < PACK; k++) c[k].rgb = mix(c[k].rgb, clamp(splineStage(from, count, end, c[k].rgb), 0.0, 1.0), has);
		}
#endif
	}
	storePack(p.dstBase + line * p.dstPitch + x, c);
}
