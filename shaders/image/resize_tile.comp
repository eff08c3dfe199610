// resize in one pass for CPU drivers. An invocation makes four rows of eight pixels. For each texel
// of the rows of the source it sums down the columns, and adds the sums to the results. So nothing
// is stored between the passes, which takes such a driver longer than summing columns twice.
//
//lathe:variant u8.texel U8 TEXEL
//lathe:variant u8.alpha.texel U8 ALPHA TEXEL
//lathe:variant u8.linear.texel U8 LINEAR TEXEL
//lathe:variant u8.alpha.linear.texel U8 ALPHA LINEAR TEXEL
//lathe:variant f32.alpha.texel F32 ALPHA TEXEL
//lathe:variant f32.alpha.linear.texel F32 ALPHA LINEAR TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define FLAGS 4

layout(local_size_x = 32) in;

layout(push_constant) uniform Params {
	uint blocks;   // of eight columns
	uint packs;    // of the result a row
	uint rows;     // of the result
	uint srcBase;  // pack of row 0
	uint srcPitch;
	uint lastRow;  // of the source
	uint lastPack; // of a row of the source
	uint dstBase;  // pack of the first pixel to make
	uint dstPitch;
	uint channels;
	uint entry;    // of the first columns in their table
	uint across;   // texels of the source to sum
	uint steps;    // rows of the source to sum, TAPS at a time
	uint pixels;   // of an entry of the rows' table
} p;

#include "lib/pixels.glsl"
#include "lib/resize.glsl"

layout(set = 0, binding = 2) uniform samplerBuffer down;
layout(set = 0, binding = 3) uniform samplerBuffer across;

const uint ROWS = 4, COLUMNS = 8, TAPS = 6;

void main() {
	uint x = gl_GlobalInvocationID.x, y = gl_WorkGroupID.y;
	if (x >= p.blocks) return;
	if (IDLE) return;
	uint pitch = p.srcPitch, base = p.srcBase, lastRow = p.lastRow, lastPack = p.lastPack, steps = p.steps, texels = p.across;
	int rowEntry = int(y * (p.pixels + 1)), entry = int((p.entry + x) * (2 * PACK * texels + 1));
	uint row = uint(int(texelFetch(down, rowEntry).x)), left = uint(int(texelFetch(across, entry).x)) / PACK;
	SUM made[ROWS][COLUMNS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		[[unroll]] for (uint c = 0; c < COLUMNS; c++) made[r][c] = SUM(0.0);
	}
	for (uint j = 0; j < texels; j++) {
		uint column = base + min(left + j, lastPack);
		SUM sum[ROWS][PACK];
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			[[unroll]] for (uint k = 0; k < PACK; k++) sum[r][k] = SUM(0.0);
		}
		for (uint s = 0; s < steps; s++) {
			vec4 w[TAPS];
			RAW v[TAPS];
			[[unroll]] for (uint t = 0; t < TAPS; t++) w[t] = texelFetch(down, rowEntry + 1 + int(s * TAPS + t));
			[[unroll]] for (uint t = 0; t < TAPS; t++) v[t] = fetchPack(column + min(row + s * TAPS + t, lastRow) * pitch);
			[[unroll]] for (uint t = 0; t < TAPS; t++) { SEE(v[t]) }
			[[unroll]] for (uint k = 0; k < PACK; k++) {
				[[unroll]] for (uint t = 0; t < TAPS; t++) {
					SUM c = termOf(v[t], k);
					[[unroll]] for (uint r = 0; r < ROWS; r++) sum[r][k] += w[t][r] * c;
				}
			}
		}
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			int at = entry + 1 + 2 * int(j * PACK + k);
			vec4 a = texelFetch(across, at), b = texelFetch(across, at + 1);
			[[unroll]] for (uint r = 0; r < ROWS; r++) {
				[[unroll]] for (uint c = 0; c < 4; c++) {
					made[r][c] += a[c] * sum[r][k];
					made[r][c + 4] += b[c] * sum[r][k];
				}
			}
		}
	}
	uint first = x * (COLUMNS / PACK), rows = p.rows, packs = p.packs, dstPitch = p.dstPitch;
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		[[unroll]] for (uint c = 0; c < COLUMNS; c += PACK) {
			Pixel out_[PACK];
			[[unroll]] for (uint k = 0; k < PACK; k++) out_[k] = finished(made[r][c + k]);
			if (ROWS * y + r < rows && first + c / PACK < packs) storePack(p.dstBase + (ROWS * y + r) * dstPitch + first + c / PACK, out_);
		}
	}
	TELL
}
