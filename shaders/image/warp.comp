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
// many pixels of the source as the distance between two pixels of the result, up to MOST. Those with .inner
// are for blocks that lie inside of the source with all pixels, and .outside is for those that lie outside.
// The .fetch variants are for CPU drivers: see lib/pixels.glsl. Those with .grid are for GPUs: they make all
// blocks of an affine map.
//
//lathe:dtypes u8 f32
//lathe:variant *.outside OUTSIDE
//lathe:variant *.bilinear.inner BILINEAR INNER
//lathe:variant {u8}.outside.fetch OUTSIDE FETCH PIXELS=4
//lathe:variant {u8}.bilinear.fetch BILINEAR FETCH PIXELS=4
//lathe:variant {u8}.bilinear.inner.fetch BILINEAR INNER FETCH PIXELS=4
//lathe:variant *.nearest NEAREST
//lathe:variant *.bilinear BILINEAR
//lathe:variant *.cubic CUBIC
//lathe:variant *.bilinear.wide BILINEAR WIDE
//lathe:variant *.cubic.wide CUBIC WIDE
//lathe:variant *.nearest.grid NEAREST GRID
//lathe:variant *.bilinear.grid BILINEAR GRID
//lathe:variant *.cubic.grid CUBIC GRID
//lathe:variant *.bilinear.wide.grid BILINEAR WIDE GRID
//lathe:variant *.cubic.wide.grid CUBIC WIDE GRID
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

#if defined(GRID)
#include "lib/warp_grid.glsl"
#else
#include "lib/warp_block.glsl"
#endif

#include "lib/pixels.glsl"

#if !defined(PIXELS)
const uint PIXELS = 1; // An invocation makes so many.
#endif

// FAR is farther than any picture is wide.
const float FAR = 3.0e7;

#include "lib/warp.glsl"

#if defined(U8)
#define ALPHA(a) (uint(int((a) * 255.0 + HALF)) << 24)
#else
#define ALPHA(a) (a)
#endif

#if !defined(NEAREST) && !defined(INNER) && !defined(OUTSIDE)
// inside is how much of a pixel of the result is inside of the source. low and high are the
// distances from its middle to the edges, and size is its own size, in pixels of the source.
vec2 inside(vec2 low, vec2 high, vec2 size) {
	return clamp((min(low, 0.5 * size) + min(high, 0.5 * size)) / size, 0.0, 1.0);
}
#endif

void main() {
	srcBase = p.srcBase;
	srcPitch = p.srcPitch;
	low = ivec2(p.left, p.top);
	high = ivec2(p.right, p.bottom);
	uint first = gl_WorkGroupID.x * 64 * PIXELS + gl_LocalInvocationID.x, columns = p.columns;
	uint y = p.row + gl_WorkGroupID.y, to = p.dstBase + y * p.dstPitch + p.column;
#if defined(GRID)
	uvec2 block = uvec2(p.column + first, y) / BLOCK, middle = block * BLOCK + BLOCK / 2;
	Fixed atU = anchorOf(p.u, p.uPart, p.stepUx, p.partUx, p.stepUy, p.partUy, block);
	Fixed atV = anchorOf(p.v, p.vPart, p.stepVx, p.partVx, p.stepVy, p.partVy, block);
	ivec2 anchorCell = ivec2(int(atU.whole), int(atV.whole)), extent = ivec2(p.width, p.height);
	vec2 anchor = vec2(partOf(atU), partOf(atV)), byColumn = vec2(p.ux, p.vx), byRow = vec2(p.uy, p.vy);
	float begin = float(int(p.column - middle.x)), dy = float(int(y - middle.y)), backgroundAlpha = float(p.background >> 24) / 255.0;
	vec3 background = vec3(uvec3(p.background, p.background >> 8, p.background >> 16) & 0xffu) / 255.0 * FULL;
#else
	float begin = float(int(p.column - p.anchorX)), dy = float(int(y - p.anchorY)), backgroundAlpha = p.alpha;
	vec2 byColumn = vec2(p.ux, p.vx), byRow = vec2(p.uy, p.vy), anchor = vec2(p.uPart, p.vPart), depths = vec2(p.wx, p.wy);
	ivec2 anchorCell = ivec2(p.u, p.v), extent = ivec2(p.width, p.height);
	vec3 background = vec3(p.red, p.green, p.blue);
#endif
	[[unroll]] for (uint n = 0; n < PIXELS; n++) {
		uint i = first + n * 64;
		if (i < columns) {
			Pixel made[PACK];
#if defined(OUTSIDE)
			made[0] = Pixel(background + HALF, ALPHA(backgroundAlpha));
#else
			float dx = begin + float(int(i));
#if defined(GRID)
			const float depth = 1.0;
			vec2 d = clamp(byColumn * dx + byRow * dy, -FAR, FAR), byX = byColumn, byY = byRow;
#else
			float depth = 1.0 + (depths.x * dx + depths.y * dy), near = 1.0 / max(depth, 1e-20);
			vec2 d = clamp((byColumn * dx + byRow * dy) * near, -FAR, FAR);
			// The size of the pixel in the source, across and down.
			vec2 byX = (byColumn - d * depths.x) * near, byY = (byRow - d * depths.y) * near;
#endif
			vec2 size = clamp(sqrt(byX * byX + byY * byY), 1e-6, FAR);
			vec2 point = anchor + d, whole = floor(point), part = point - whole;
			ivec2 cell = anchorCell + ivec2(whole);
#if defined(NEAREST)
			// Pixels are copied bit for bit.
			made[0] = pixelOf(at(cell.x, cell.y), 0);
			bool none = depth <= 0.0 || any(lessThan(cell, ivec2(0))) || any(greaterThanEqual(cell, extent));
			made[0].rgb = mix(made[0].rgb, background + HALF, bvec3(none));
			made[0].alpha = mix(made[0].alpha, ALPHA(backgroundAlpha), none);
#else
#if defined(INNER)
			const float covered = 1.0;
#else
			vec2 cover = inside(vec2(cell) + part + 0.5, vec2(extent - cell) - part - 0.5, size);
			float covered = mix(0.0, cover.x * cover.y, depth > 0.0);
#endif
			vec4 v = sampled(cell, part, size);
			bool shows = all(bvec2(v.a > NOTHING, covered > 0.0));
			vec3 c = clamp(v.rgb / mix(1.0, v.a, shows), 0.0, FULL);
			float a = mix(0.0, min(v.a, 1.0) * covered, shows), rest = backgroundAlpha * (1.0 - covered), alpha = a + rest;
			bool some = BYTES ? alpha * 255.0 >= HALF : alpha > NOTHING;
#if !defined(INNER)
			c = (mix(vec3(0.0), c, bvec3(shows)) * a + rest * background) / mix(1.0, alpha, some);
#endif
			c = mix(vec3(0.0), c, bvec3(some));
#if defined(U8)
			c = clamp(c, 0.0, FULL);
#endif
			made[0] = Pixel(c + HALF, ALPHA(alpha));
#endif
#endif
			storePack(to + i, made);
		}
	}
}
