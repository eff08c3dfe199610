// Lays a picture, the source, over a part of an image, the backdrop, by an operator of Porter and
// Duff or a blend mode: W3C Compositing and Blending Level 1.
//
// The colour of the result is (as·fa·c + ab·fb·cb) / ao, where ao = as·fa + ab·fb is its alpha.
// Here c is the colour of the source, or its mixture with the blended colour. Without alpha in the
// image, the result lies on black. A pixel of the image to which nothing is added keeps its colour,
// also a hidden one.
//
//lathe:dtypes u8 f32
//lathe:variant * SPAN=4
//lathe:variant *.blend BLEND SPAN=1
//lathe:variant *.mix MIX SPAN=1
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns; // pixels to make in each row
	uint rows;    // rows to make
	uint srcBase; // the first pixel of the part
	uint srcPitch;
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint overBase; // pixel 0 of row 0 of the source, or what lies over the first column of the part
	uint overPitch;
	uint overChannels;
	uint overRow; // the row of the source that lies over the first row of the part
	uint tileHeight; // the source comes again after so many rows
	float opacity;
	float fa; // fa is fa + faBackdrop·ab, and fb is fb + fbSource·as
	float faBackdrop;
	float fb;
	float fbSource;
	uint blend;
	uint luma; // 1: the luma of the source is multiplied with its alpha
} p;

#include "lib/pixels.glsl"
#include "lib/blend.glsl"

#if defined(U8)
layout(set = 0, binding = 2) readonly buffer Over { uint over[]; };
Pixel overAt(uint i) { return unpackPixel(over[i]); }
float alphaOf(Pixel x) { return float(int(x.alpha >> 24)) * (1.0 / 255.0); } // 1 for 255
#else
layout(set = 0, binding = 2) readonly buffer Over { float over[]; };
Pixel overAt(uint i) {
	uint o = i * p.overChannels;
	if (p.overChannels == 1) return Pixel(vec3(over[o]), FULL);
	vec3 c = vec3(over[o], over[o + 1], over[o + 2]);
	if (p.channels == 1) c = vec3(luma(c));
	return Pixel(c, p.overChannels == 4 ? over[o + 3] : FULL);
}
float alphaOf(Pixel x) { return clamp(x.alpha, 0.0, 1.0); }
#endif

void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * SPAN;
	if (x >= p.columns) return;
	[[unroll]] for (uint k = 0; k < SPAN; k++) {
		uint y = min(first + k, p.rows - 1);
		Pixel own = pixelOf(fetchPack(p.srcBase + y * p.srcPitch + x), 0);
		Pixel source = overAt(p.overBase + (p.overRow + y) % p.tileHeight * p.overPitch + x);
		float ab = alphaOf(own), as = alphaOf(source) * p.opacity;
		as *= mix(1.0, clamp(luma(source.rgb) / FULL, 0.0, 1.0), p.luma != 0);
		vec3 c = source.rgb;
#if defined(BLEND) || defined(MIX)
		c = mix(c, blended(own.rgb / FULL, c / FULL) * FULL, ab);
#endif
		float fb = p.fb + p.fbSource * as, a = as * (p.fa + p.faBackdrop * ab), b = ab * fb, ao = min(a + b, 1.0);
		c = min(a * c + b * own.rgb, FULL); // more is possible for plus alone
		bool some = ao > 0.0, hidden = ab == 0.0 && fb > 0.0, keeps = fb == 1.0 || hidden, stays = a == 0.0 && keeps;
		Pixel made[PACK];
#if defined(U8)
		c *= 1.0 / mix(1.0, ao, some);
		made[0].rgb = mix(clamp(c, 0.0, FULL) + HALF, own.rgb, bvec3(stays));
		made[0].alpha = mix(uint(int(ao * FULL + HALF)) << 24, own.alpha, stays);
#else
		c /= mix(mix(1.0, ao, some), 1.0, p.channels < 4);
		made[0].rgb = mix(c, own.rgb, bvec3(stays));
		made[0].alpha = mix(ao, own.alpha, stays);
#endif
		if (first + k < p.rows) storePack(p.dstBase + y * p.dstPitch + x, made);
	}
}
