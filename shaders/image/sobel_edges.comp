// Sobel edges of the luma: the length of the gradient, or white where it is above a threshold
// and black elsewhere. The result is opaque. An invocation makes ROWS rows of a pack.
//
// The .alpha variants use the luma times alpha. They run after the others, and do nothing
// unless those have found a pixel that is not opaque.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	uint magnitude; // 1: the length itself
	float threshold; // in the scale of the image
} p;

#include "lib/pixels.glsl"
#include "lib/stencil_alpha.glsl"

// edges makes rows of a pack, those below `end`, from the lumas around them.
void edges(float v[ROWS + 2][PACK + 2], uint x, uint first, uint end) {
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		Pixel made[PACK];
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			float gx = (v[r][k + 2] + 2 * v[r + 1][k + 2] + v[r + 2][k + 2]) - (v[r][k] + 2 * v[r + 1][k] + v[r + 2][k]);
			float gy = (v[r + 2][k] + 2 * v[r + 2][k + 1] + v[r + 2][k + 2]) - (v[r][k] + 2 * v[r][k + 1] + v[r][k + 2]);
			float g = sqrt(gx * gx + gy * gy);
			float e = mix(0.0, FULL, g > p.threshold);
			float v = mix(e, g, p.magnitude != 0);
			made[k].rgb = vec3(BYTES ? min(v, FULL) + HALF : v);
			made[k].alpha = OPAQUE;
		}
		uint y = p.row + first + r;
		if (first + r < end) storePack(p.dstBase + y * p.dstPitch + x, made);
	}
}

#if defined(ALPHA)
void main() {
	// A few groups make all tiles, so the launch costs almost nothing if there are no tiles
	// to make.
	uint tiles = flags[0] * p.tiles, across = p.across, columns = p.columns;
	for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += p.stride) {
		uint here = tile % across * 64 + gl_LocalInvocationID.x, first = tile / across * ROWS;
		uint x = p.column + min(here, columns - 1);
		float v[ROWS + 2][PACK + 2];
		[[unroll]] for (uint r = 0; r < ROWS + 2; r++) {
			CELL c[PACK + 2];
			loadRow(int(p.row + first + r) - 1, x, c);
			[[unroll]] for (uint k = 0; k < PACK + 2; k++) v[r][k] = lumaOfCell(c[k]) * weightOf(pixelOfCell(c[k]));
		}
		edges(v, x, first, mix(0u, p.rows, here < columns));
	}
}
#else
void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	x += p.column;
	float v[ROWS + 2][PACK + 2];
	CELL all = CELL(OPAQUE);
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) {
		CELL c[PACK + 2];
		loadRow(int(p.row + first + r) - 1, x, c);
		[[unroll]] for (uint k = 0; k < PACK + 2; k++) {
			v[r][k] = lumaOfCell(c[k]);
			if (r > 0 && r <= ROWS && k > 0 && k <= PACK) see(c[k], all);
		}
	}
	edges(v, x, first, p.rows);
	if (all != CELL(OPAQUE)) flags[0] = 1u;
}
#endif
