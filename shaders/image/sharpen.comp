// Sharpens each colour with the kernel 0 −1 0 / −1 5 −1 / 0 −1 0, clamped to 0..FULL. Alpha
// stays as it is, or colours are multiplied by it first and divided by the sharpened alpha
// afterwards. An invocation makes ROWS rows of a pack.
//
// The .alpha variants weigh colours by alpha. They run after the others, and do nothing unless
// those have found a pixel that is not opaque. For opaque pixels the results are the same.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
} p;

#include "lib/pixels.glsl"
#include "lib/stencil_alpha.glsl"

#if defined(ALPHA)
#include "lib/rounded.glsl"

// weighed is the result for a pixel and its neighbours, of which one at least is not
// opaque. Alpha is clamped after colours were divided by it, so that a plane of one
// colour keeps it at the edge of what is transparent.
Pixel weighed(Pixel c, Pixel n, Pixel s, Pixel w, Pixel e) {
#if defined(U8)
	vec4 a = vec4(ivec4(uvec4(n.alpha, s.alpha, w.alpha, e.alpha) >> 24));
	float own = float(int(c.alpha >> 24));
	int alpha = int(5 * own - (a.x + a.y + a.z + a.w)); // whole numbers, as all are here
	ivec3 sum = ivec3(5 * own * c.rgb - (a.x * n.rgb + a.y * s.rgb + a.z * w.rgb + a.w * e.rgb));
	int part = max(alpha, 1);
	sum = clamp(sum, ivec3(0), ivec3(255 * max(alpha, 0)));
	ivec3 rgb = ivec3(rounded(sum.r, part), rounded(sum.g, part), rounded(sum.b, part));
	return Pixel(vec3(rgb), uint(clamp(alpha, 0, 255)) << 24);
#else
	float alpha = 5 * c.alpha - (n.alpha + s.alpha + w.alpha + e.alpha);
	vec3 sum = 5 * (c.rgb * c.alpha) - (n.rgb * n.alpha + s.rgb * s.alpha + w.rgb * w.alpha + e.rgb * e.alpha);
	bool some = alpha > 0.0;
	vec3 rgb = mix(vec3(0.0), clamp(sum / mix(1.0, alpha, some), 0.0, FULL), bvec3(some));
	return Pixel(rgb, clamp(alpha, 0.0, FULL));
#endif
}

void main() {
	// A few groups make all tiles, so the launch costs almost nothing if there are no tiles
	// to make.
	uint tiles = flags[0] * p.tiles, across = p.across, columns = p.columns;
	for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += p.stride) {
		uint here = tile % across * 64 + gl_LocalInvocationID.x, first = tile / across * ROWS;
		uint x = p.column + min(here, columns - 1), end = mix(0u, p.rows, here < columns);
		CELL v[ROWS + 2][PACK + 2];
		[[unroll]] for (uint r = 0; r < ROWS + 2; r++) loadRow(int(p.row + first + r) - 1, x, v[r]);
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			Pixel made[PACK];
			[[unroll]] for (uint k = 0; k < PACK; k++) {
				made[k] = weighed(pixelOfCell(v[r + 1][k + 1]), pixelOfCell(v[r][k + 1]), pixelOfCell(v[r + 2][k + 1]),
					pixelOfCell(v[r + 1][k]), pixelOfCell(v[r + 1][k + 2]));
			}
			uint y = p.row + first + r;
			if (first + r < end) storePack(p.dstBase + y * p.dstPitch + x, made);
		}
	}
}
#else
void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	x += p.column;
	CELL v[ROWS + 2][PACK + 2], all = CELL(OPAQUE);
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) loadRow(int(p.row + first + r) - 1, x, v[r]);
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		Pixel made[PACK];
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			see(v[r + 1][k + 1], all);
			Pixel c = pixelOfCell(v[r + 1][k + 1]);
			vec3 around = pixelOfCell(v[r][k + 1]).rgb + pixelOfCell(v[r + 2][k + 1]).rgb
				+ pixelOfCell(v[r + 1][k]).rgb + pixelOfCell(v[r + 1][k + 2]).rgb;
			made[k] = Pixel(clamp(5 * c.rgb - around, 0, FULL), c.alpha);
		}
		uint y = p.row + first + r;
		if (first + r < p.rows) storePack(p.dstBase + y * p.dstPitch + x, made);
	}
	if (all != CELL(OPAQUE)) flags[0] = 1u;
}
#endif
