// The weighted sum of pixels around each pixel, times a scale and plus a bias. The table has a
// column, a row and a weight for each of them, counted from the pixel. If alpha weighs, a pixel
// counts as much as it is opaque, and the pixel itself stands for the rest of it. Alpha stays.
//
// The .blur variants make the weighted mean instead, also of alpha if it weighs.
//
//lathe:dtypes u8 f32
//lathe:variant * ROWS=4
//lathe:variant *.blur ROWS=4 BLUR
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	uint radius; // rows above and below that a result depends on
	uint taps;   // pixels to add
	uint weigh;  // 1: alpha weighs
	float scale;
	float bias; // in the scale of the type
} p;

#include "lib/pixels.glsl"
#include "lib/around.glsl"

layout(set = 0, binding = 2) readonly buffer Table { float table[]; };

#if defined(BLUR)
#include "lib/mean.glsl"

void tile(uint x, uint first, uint end) {
	uint taps = p.taps;
	int top = int(p.row + first);
	bool weigh = p.weigh != 0u;
	vec4 sum[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) sum[r] = vec4(0.0);
	for (uint t = 0; t < taps; t++) {
		int dx = int(table[3 * t]), dy = int(table[3 * t + 1]);
		float w = table[3 * t + 2];
		[[unroll]] for (uint r = 0; r < ROWS; r++) sum[r] += w * weighed(pixelAt(int(x) + dx, top + int(r) + dy), weigh);
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		if (first + r < end) storePixel(x, p.row + first + r, meanOf(sum[r], pixelAt(int(x), top + int(r)), weigh));
	}
}
#else
void tile(uint x, uint first, uint end) {
	uint taps = p.taps;
	int top = int(p.row + first);
	bool weigh = p.weigh != 0u;
	Pixel own[ROWS];
	vec3 sum[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		own[r] = pixelAt(int(x), top + int(r));
		sum[r] = vec3(0.0);
	}
	for (uint t = 0; t < taps; t++) {
		int dx = int(table[3 * t]), dy = int(table[3 * t + 1]);
		float w = table[3 * t + 2];
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			Pixel v = pixelAt(int(x) + dx, top + int(r) + dy);
			float a = mix(1.0, clamp(weightOf(v), 0.0, 1.0), weigh);
			sum[r] += w * mix(own[r].rgb, v.rgb, bvec3(a >= 1.0)) + mix(0.0, w * a, a < 1.0) * (v.rgb - own[r].rgb);
		}
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		vec3 v = clamp(fma(sum[r], vec3(p.scale), vec3(p.bias)), 0.0, FULL) + HALF;
		bool hidden = weigh && weightOf(own[r]) <= 0.0;
		if (first + r < end) storePixel(x, p.row + first + r, Pixel(mix(v, vec3(0.0), bvec3(hidden)), own[r].alpha));
	}
}
#endif

void main() EACH_TILE(tile)
