// A single pointwise operation on bytes, four pixels a texel. Alpha stays as it is.
// image/pointwise runs chains and floats. On a CPU driver the store of a texel costs as much as
// some hundred instructions, and parameters and conversions cost as much again. So each
// parameter is read once, colours keep their place in the word when they become floats, and
// are clamped as integers.
//
//lathe:variant invert U8 TEXEL INVERT
//lathe:variant affine U8 TEXEL AFFINE
//lathe:variant luma U8 TEXEL LUMA
//lathe:variant step U8 TEXEL STEP
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

const uint WG = 256, PACKS = 4; // an invocation makes PACKS packs
layout(local_size_x = 256) in;

layout(push_constant) uniform Params {
	uint columns;  // packs a row
	uint srcBase;  // first pack of the first row
	uint srcPitch; // packs from row to row
	uint dstBase;
	uint dstPitch;
	uint invert;   // INVERT: bits to invert in each pixel
	float scale;   // AFFINE: level·scale + offset, rounded down
	float offset;
	uint low;      // STEP, for each colour: 128 less the lower 7 bits of the least level to become 255
	uint either;   // and 128 if that level is below 128
} p;

#include "lib/pixels.glsl"

// colour is a colour of four pixels, in its place.
vec4 colour(uvec4 v, uint bits) { return vec4(ivec4(v & bits)); }

uvec4 levels(vec4 v) { return uvec4(clamp(ivec4(v), 0, 255)); }

void main() {
	uint row = gl_WorkGroupID.y, x = gl_WorkGroupID.x * (WG * PACKS) + gl_LocalInvocationID.x;
	uint from = p.srcBase + row * p.srcPitch, to = p.dstBase + row * p.dstPitch;
	uint columns = p.columns;
#if defined(INVERT)
	uint invert = p.invert;
#elif defined(AFFINE)
	vec3 scale = p.scale / PLACE;
	float offset = p.offset;
#elif defined(LUMA)
	const vec3 scale = BT601 / PLACE;
#elif defined(STEP)
	uint low = p.low, either = p.either;
#endif
	[[unroll]] for (uint n = 0; n < PACKS; n++, x += WG) {
		if (x < columns) {
			uvec4 v = fetchPack(from + x);
#if defined(INVERT)
			v ^= invert;
#elif defined(STEP)
			// The sum has bit 7 of a colour set if the lower bits reach those of the
			// least level. That decides, unless bit 7 itself is above it or below.
			uvec4 sum = (v & 0x7f7f7fu) + low;
			uvec4 on = ((sum & v) | ((sum | v) & either)) & 0x808080u;
			v = (v & 0xff000000u) | ((on << 1) - (on >> 7)); // 256 − 1 where on
#else
			vec4 r = colour(v, 0xffu) * scale.r, g = colour(v, 0xff00u) * scale.g, b = colour(v, 0xff0000u) * scale.b;
			v &= 0xff000000u;
#if defined(AFFINE)
			v |= levels(r + offset) | (levels(g + offset) << 8) | (levels(b + offset) << 16);
#else
			uvec4 y = uvec4(ivec4(r + g + b + HALF));
			v |= y | (y << 8) | (y << 16);
#endif
#endif
			storeTexel(to + x, v);
		}
	}
}
