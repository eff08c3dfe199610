// Makes a block of a picture that a projective map moves to other places: rotation by any angle,
// affine and perspective maps. A pixel of the result is at a point of the source, and is a weighted
// mean of the pixels around it. Colours are weighted by alpha. Outside of the source is one colour.
// How much of a pixel of the result is inside of the source decides how much of each it has.
//
// A block has an anchor, which is the middle of one of its pixels. The parameters have the point
// of the anchor as a whole number and a fraction, and the map as distances from there. So
// coordinates are as exact in a large picture as in a small one.
//
// The variants weigh one pixel (.nearest), two by two (.bilinear) or four by four (.cubic). Those
// with .wide do the same where the map makes the picture smaller: the weights are spread over as
// many pixels of the source as the distance between two pixels of the result, up to MOST.
//
//lathe:dtypes u8 f32
//lathe:variant *.nearest NEAREST
//lathe:variant *.bilinear BILINEAR
//lathe:variant *.cubic CUBIC
//lathe:variant *.bilinear.wide BILINEAR WIDE
//lathe:variant *.cubic.wide CUBIC WIDE
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint column;  // first pixel to make in each row
	uint columns; // pixels to make
	uint row;     // first row to make
	uint anchorX; // the pixel that distances are from
	uint anchorY;
	uint srcBase; // pixel 0 of row 0
	uint srcPitch;
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	int width;     // of the source
	int height;
	int left; // the pixels of the source that may be read
	int top;
	int right; // the last ones
	int bottom;
	int u; // the anchor's point, in pixels whose middle is a whole number
	int v;
	float uPart;
	float vPart;
	float ux; // a pixel to the right of the anchor is at (ux, vx) / (1 + wx) from its point
	float uy;
	float vx;
	float vy;
	float wx;
	float wy;
	float red; // what is outside, in 0..FULL
	float green;
	float blue;
	float alpha; // in 0..1
} p;

#include "lib/pixels.glsl"

// FAR is farther than any picture is wide.
const float FAR = 3.0e7;

#include "lib/warp.glsl"

#if !defined(NEAREST)
// inside is how much of a pixel of the result is inside of the source. low and high are the
// distances from its middle to the edges, and size is its own size, in pixels of the source.
vec2 inside(vec2 low, vec2 high, vec2 size) {
	return clamp((min(low, 0.5 * size) + min(high, 0.5 * size)) / size, 0.0, 1.0);
}
#endif

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i >= p.columns) return;
	uint x = p.column + i, y = p.row + gl_WorkGroupID.y;
	float dx = float(int(x - p.anchorX)), dy = float(int(y - p.anchorY));
	float depth = 1.0 + (p.wx * dx + p.wy * dy), near = 1.0 / max(depth, 1e-20);
	vec2 d = clamp(vec2(p.ux * dx + p.uy * dy, p.vx * dx + p.vy * dy) * near, -FAR, FAR);
	// The size of the pixel in the source, across and down.
	vec2 byX = (vec2(p.ux, p.vx) - d * p.wx) * near, byY = (vec2(p.uy, p.vy) - d * p.wy) * near;
	vec2 size = clamp(sqrt(byX * byX + byY * byY), 1e-6, FAR);
	vec2 point = vec2(p.uPart, p.vPart) + d, whole = floor(point), part = point - whole;
	ivec2 cell = ivec2(p.u, p.v) + ivec2(whole);
	Pixel made[PACK];
#if defined(NEAREST)
	// Pixels are copied bit for bit.
	made[0] = at(cell.x, cell.y);
	bool none = depth <= 0.0 || min(cell.x, cell.y) < 0 || cell.x >= p.width || cell.y >= p.height;
	made[0].rgb = mix(made[0].rgb, vec3(p.red, p.green, p.blue) + HALF, bvec3(none));
#if defined(U8)
	made[0].alpha = none ? uint(int(p.alpha * 255.0 + HALF)) << 24 : made[0].alpha;
#else
	made[0].alpha = none ? p.alpha : made[0].alpha;
#endif
#else
	vec2 cover = inside(vec2(cell) + part + 0.5, vec2(ivec2(p.width, p.height) - cell) - part - 0.5, size);
	float covered = depth > 0.0 ? cover.x * cover.y : 0.0;
	vec4 v = sampled(cell, part, size);
	bool shows = v.a > NOTHING && covered > 0.0;
	vec3 c = clamp(v.rgb / mix(1.0, v.a, shows), 0.0, FULL);
	float a = shows ? min(v.a, 1.0) * covered : 0.0, rest = p.alpha * (1.0 - covered), alpha = a + rest;
	bool some = BYTES ? alpha * 255.0 >= HALF : alpha > NOTHING;
	c = mix(vec3(0.0), (mix(vec3(0.0), c, bvec3(shows)) * a + rest * vec3(p.red, p.green, p.blue)) / mix(1.0, alpha, some), bvec3(some));
#if defined(U8)
	made[0] = Pixel(clamp(c, 0.0, FULL) + HALF, uint(int(alpha * 255.0 + HALF)) << 24);
#else
	made[0] = Pixel(c, alpha);
#endif
#endif
	storePack(p.dstBase + y * p.dstPitch + x, made);
}
