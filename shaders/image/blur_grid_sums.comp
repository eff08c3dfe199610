// Sums of floats for image/blur_grid, with a table of weights:
//
//   across  along rows: it reduces them to cells, blurs these, and makes columns of them again
//   down    down the columns of cells, which blurs them
//
// The table has for each phase of the results and each of the floats to sum their weights. In the
// .texel variants four results share the floats.
//
//lathe:variant f32.across ACROSS
//lathe:variant f32.across.texel ACROSS TEXEL
//lathe:variant f32.down DOWN
//lathe:variant f32.down.texel DOWN TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/blur_grid_params.glsl"
} p;

#include "lib/blur_grid.glsl"

const uint ROWS = 4; // an invocation makes

#if defined(ACROSS)
void make(uint x, uint y) {
	uint terms = p.terms, pitch = p.srcPitch;
#if defined(TEXEL)
	uint phase = x & (p.phases - 1), at = p.srcBase + (x >> p.shift) * p.step, to = x;
#else
	uint phase = y & (p.phases - 1), at = p.srcBase + x, to = (x << p.shift) + phase, mask = p.mask, bits = p.bits, step = p.step;
	y >>= p.shift;
#endif
	uint entry = p.table + phase * terms * FLOAT_COUNT;
	uint row[ROWS];
	FLOATS sum[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		row[r] = at + min(y * ROWS + r, p.rows - 1) * pitch;
		sum[r] = FLOATS(0.0);
	}
	for (uint t = 0; t < terms; t++) {
		FLOATS w[FLOAT_COUNT];
		[[unroll]] for (uint c = 0; c < FLOAT_COUNT; c++) w[c] = WEIGHTS(entry + c);
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
#if defined(TEXEL)
			FLOATS v = fetch(row[r] + t);
			[[unroll]] for (uint c = 0; c < 4; c++) sum[r] += v[c] * w[c];
#else
			sum[r] += fetch(row[r] + (t & mask) * step + (t >> bits)) * w[0];
#endif
		}
		entry += FLOAT_COUNT;
	}
	if (to >= p.dstPitch) return;
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		if (y * ROWS + r < p.rows) dst[p.dstBase + (y * ROWS + r) * p.dstPitch + to] = sum[r];
	}
}
#else
void make(uint x, uint y) {
	uint terms = p.terms, pitch = p.srcPitch, last = p.rows + terms - ROWS - 1, entry = p.table;
	FLOATS sum[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) sum[r] = FLOATS(0.0);
	for (uint t = 0; t < terms; t++) {
		FLOATS v = fetch(p.srcBase + x + min(y * ROWS + t, last) * pitch);
		vec4 w = WEIGHTS4(entry + t);
		[[unroll]] for (uint r = 0; r < ROWS; r++) sum[r] += w[r] * v;
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		if (y * ROWS + r < p.rows) dst[p.dstBase + (y * ROWS + r) * p.dstPitch + x] = sum[r];
	}
}
#endif
