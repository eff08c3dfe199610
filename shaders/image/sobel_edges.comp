// Sobel edges of the luma: the length of the gradient, or white where it is
// above a threshold and black elsewhere; opaque. An invocation makes ROWS rows
// of a pack.
//
//lathe:variant u8 U8 ROWS=4
//lathe:variant u8.texel U8 TEXEL ROWS=4
//lathe:variant f32 F32 ROWS=4
//lathe:variant f32.texel F32 TEXEL ROWS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint width;    // pixels a row of the image
	uint height;   // rows of the image
	uint column;   // first pack to make in each row
	uint columns;  // packs to make
	uint row;      // first row to make
	uint rows;     // rows to make
	uint srcBase;  // pack of row 0
	uint srcPitch; // packs from row to row
	uint dstBase;
	uint dstPitch;
	uint channels;  // floats a pixel, in f32
	uint magnitude; // 1: the length itself
	float threshold; // in the scale of the image
} p;

#include "lib/pixels.glsl"
#include "lib/stencil.glsl"

void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	x += p.column;
	float v[ROWS + 2][PACK + 2];
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) {
		CELL c[PACK + 2];
		loadRow(int(p.row + first + r) - 1, x, c);
		[[unroll]] for (uint k = 0; k < PACK + 2; k++) v[r][k] = luma(pixelOfCell(c[k]).rgb);
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		Pixel made[PACK];
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			float gx = (v[r][k + 2] + 2 * v[r + 1][k + 2] + v[r + 2][k + 2]) - (v[r][k] + 2 * v[r + 1][k] + v[r + 2][k]);
			float gy = (v[r + 2][k] + 2 * v[r + 2][k + 1] + v[r + 2][k + 2]) - (v[r][k] + 2 * v[r][k + 1] + v[r][k + 2]);
			float g = sqrt(gx * gx + gy * gy);
			float e = g > p.threshold ? FULL : 0.0;
			float v = p.magnitude != 0 ? g : e;
			made[k].rgb = vec3(BYTES ? min(v, FULL) + HALF : v);
			made[k].alpha = OPAQUE;
		}
		uint y = p.row + first + r;
		if (first + r < p.rows) storePack(p.dstBase + y * p.dstPitch + x, made);
	}
}
