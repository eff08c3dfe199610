// image/remap where no pixel comes from the border, for pixels that are words. The source of a pixel
// is at a number that rises evenly along rows and along columns of the result. An invocation copies
// ROWS packs of a column.
//
// In the .texel variant it copies a square of four by four pixels. A row of the square is a texel of
// the source. If the result is turned, it is a column instead.
//
//lathe:variant u8 U8 ROWS=4
//lathe:variant u8.texel U8 TEXEL ROWS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns; // packs to make in each row
	uint rows;
	uint srcBase; // the pack that the first pack of the result comes from
	uint byColumn; // what is added for the next pack of the result
	uint byRow;    // for the next row, and in a square for the next row of the source that it has
	uint bySquare; // for the next row of squares
	uint dstBase;
	uint dstPitch; // packs from row to row
	uint turned;   // 1: rows of the source are columns
	uint mirrored; // 1: the pixels of a texel are from right to left
} p;

#include "lib/pixels.glsl"

void main() {
	uint x = gl_GlobalInvocationID.x, y = gl_WorkGroupID.y * ROWS;
	if (x >= p.columns) return;
	uint rows = p.rows - y, dstPitch = p.dstPitch, byRow = p.byRow, to = p.dstBase + y * dstPitch + x;
	RAW v[ROWS];
#if defined(TEXEL)
	uint from = p.srcBase + x * p.byColumn + gl_WorkGroupID.y * p.bySquare;
	bool turned = p.turned != 0u, mirrored = p.mirrored != 0u;
	uint last = mix(rows - 1, ROWS - 1, turned);
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		v[r] = fetchPack(from + min(r, last) * byRow);
		v[r] = mix(v[r], v[r].wzyx, bvec4(mirrored));
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		uvec4 made = mix(v[r], uvec4(v[0][r], v[1][r], v[2][r], v[3][r]), bvec4(turned));
		if (r < rows) storeTexel(to + r * dstPitch, made);
	}
#else
	uint from = p.srcBase + x * p.byColumn + y * byRow;
	[[unroll]] for (uint r = 0; r < ROWS; r++) v[r] = fetchPack(from + min(r, rows - 1) * byRow);
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		if (r < rows) dst[to + r * dstPitch] = v[r];
	}
#endif
}
