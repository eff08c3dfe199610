// Adds to each colour its distance from the blurred image, times an amount. Colours whose distance
// is below a threshold stay. If alpha weighs, colours are 0 where alpha is 0, and stay where the
// blurred alpha is 0. Alpha stays as it is. An invocation makes ROWS packs of a column.
//
//lathe:dtypes u8 f32
//lathe:variant * ROWS=1
//lathe:variant {u8}.texel TEXEL ROWS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	uint weigh;     // 1: alpha weighs
	uint blurBase;  // pack of row 0 of the blurred image
	uint blurPitch;
	float amount;
	float threshold; // in the scale of the type
} p;

#include "lib/pixels.glsl"

#if defined(U8) && defined(TEXEL)
layout(set = 0, binding = 2) uniform usamplerBuffer blurred;
RAW blurredAt(uint i) { return texelFetch(blurred, int(i)); }
#elif defined(U8)
layout(set = 0, binding = 2) readonly buffer Blurred { uint blurred[]; };
RAW blurredAt(uint i) { return blurred[i]; }
#else
layout(set = 0, binding = 2) readonly buffer Blurred { float blurred[]; };
RAW blurredAt(uint i) {
	uint o = i * p.channels;
	if (p.channels == 1) return vec4(vec3(blurred[o]), FULL);
	return vec4(blurred[o], blurred[o + 1], blurred[o + 2], p.channels == 4 ? blurred[o + 3] : FULL);
}
#endif

Pixel sharpened(Pixel own, Pixel soft, float amount, float threshold, bool weigh) {
	vec3 far = own.rgb - soft.rgb;
	bool hidden = weigh && weightOf(soft) <= 0.0, none = weigh && weightOf(own) <= 0.0;
	bvec3 stays = lessThan(abs(far), vec3(mix(threshold, 1e30, hidden)));
	vec3 v = mix(clamp(fma(far, vec3(amount), own.rgb), 0.0, FULL) + HALF, own.rgb, stays);
	return Pixel(mix(v, vec3(0.0), bvec3(none)), own.alpha);
}

void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	uint rows = p.rows, srcPitch = p.srcPitch, dstPitch = p.dstPitch, blurPitch = p.blurPitch, y = p.row + first;
	uint from = p.srcBase + y * srcPitch + p.column + x, at = p.blurBase + y * blurPitch + p.column + x, to = p.dstBase + y * dstPitch + p.column + x;
	float amount = p.amount, threshold = p.threshold;
	bool weigh = p.weigh != 0u;
	RAW own[ROWS], soft[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		uint there = min(r, rows - 1 - first);
		own[r] = fetchPack(from + there * srcPitch);
		soft[r] = blurredAt(at + there * blurPitch);
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		Pixel c[PACK];
		[[unroll]] for (uint k = 0; k < PACK; k++) c[k] = sharpened(pixelOf(own[r], k), pixelOf(soft[r], k), amount, threshold, weigh);
		if (first + r < rows) storePack(to + r * dstPitch, c);
	}
}
