// Sharpens with the kernel 0 −1 0 / −1 5 −1 / 0 −1 0, each colour by itself,
// clamped to 0..FULL; alpha untouched. An invocation makes ROWS rows of a pack.
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
	uint channels; // floats a pixel, in f32
} p;

#include "lib/pixels.glsl"
#include "lib/stencil.glsl"

void main() {
	uint x = gl_GlobalInvocationID.x, first = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	x += p.column;
	CELL v[ROWS + 2][PACK + 2];
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) loadRow(int(p.row + first + r) - 1, x, v[r]);
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		Pixel made[PACK];
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			Pixel c = pixelOfCell(v[r + 1][k + 1]);
			vec3 around = pixelOfCell(v[r][k + 1]).rgb + pixelOfCell(v[r + 2][k + 1]).rgb
				+ pixelOfCell(v[r + 1][k]).rgb + pixelOfCell(v[r + 1][k + 2]).rgb;
			made[k] = Pixel(clamp(5 * c.rgb - around, 0, FULL), c.alpha);
		}
		uint y = p.row + first + r;
		if (first + r < p.rows) storePack(p.dstBase + y * p.dstPitch + x, made);
	}
}
