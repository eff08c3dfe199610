// image/convolve for kernels of three by three numbers or fewer, which are parameters. Products are
// added in the order of the table of image/convolve, so the results are the same.
//
// The .alpha variants weigh by alpha. They run after the others, and do nothing unless those have
// found a pixel that is not opaque. For opaque pixels the results are the same.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	float scale;
	float bias; // in the scale of the type
	float w[9];
} p;

#include "lib/pixels.glsl"
#include "lib/stencil_alpha.glsl"

// part is what a pixel adds to the sum of another one.
vec3 part(float w, Pixel v, Pixel own) {
#if defined(ALPHA)
	float a = clamp(weightOf(v), 0.0, 1.0);
	return w * mix(own.rgb, v.rgb, bvec3(a >= 1.0)) + mix(0.0, w * a, a < 1.0) * (v.rgb - own.rgb);
#else
	return w * v.rgb;
#endif
}

// tile makes the rows from `first` on, up to `end`, of pack x.
void tile(uint x, uint first, uint end, inout CELL all) {
	CELL v[ROWS + 2][PACK + 2];
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) loadRow(int(p.row + first + r) - 1, x, v[r]);
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		Pixel made[PACK];
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			see(v[r + 1][k + 1], all);
			Pixel own = pixelOfCell(v[r + 1][k + 1]);
			vec3 sum = vec3(0.0);
			[[unroll]] for (uint i = 0; i < 9; i++) sum += part(p.w[i], pixelOfCell(v[r + i / 3][k + i % 3]), own);
			sum = clamp(fma(sum, vec3(p.scale), vec3(p.bias)), 0.0, FULL) + HALF;
#if defined(ALPHA)
			sum = mix(sum, vec3(0.0), bvec3(weightOf(own) <= 0.0));
#endif
			made[k] = Pixel(sum, own.alpha);
		}
		uint y = p.row + first + r;
		if (first + r < end) storePack(p.dstBase + y * p.dstPitch + x, made);
	}
}

void main() {
	CELL all = CELL(OPAQUE);
#if defined(ALPHA)
	// A few groups make all tiles, so the launch costs almost nothing if there are no tiles
	// to make.
	uint tiles = flags[0] * p.tiles, across = p.across, columns = p.columns;
	for (uint i = gl_WorkGroupID.x; i < tiles; i += p.stride) {
		uint here = i % across * 64 + gl_LocalInvocationID.x;
		tile(p.column + min(here, columns - 1), i / across * ROWS, mix(0u, p.rows, here < columns), all);
	}
#else
	uint x = gl_GlobalInvocationID.x;
	if (x >= p.columns) return;
	tile(p.column + x, gl_WorkGroupID.y * ROWS, p.rows, all);
	if (all != CELL(OPAQUE)) flags[0] = 1u;
#endif
}
