// The mean of a pixel and its eight neighbours, each colour by itself; alpha untouched.
// An invocation makes ROWS rows of a pack.
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
	uint across;   // this and what follows is for filters that weigh by alpha
	uint tiles;
	uint stride;
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
			vec3 sum = vec3(0);
			[[unroll]] for (uint i = 0; i < 9; i++) sum += pixelOfCell(v[r + i / 3][k + i % 3]).rgb;
			made[k] = Pixel(sum / 9.0 + HALF, pixelOfCell(v[r + 1][k + 1]).alpha);
		}
		uint y = p.row + first + r;
		if (first + r < p.rows) storePack(p.dstBase + y * p.dstPitch + x, made);
	}
}
