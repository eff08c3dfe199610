// Gaussian blur of strips of ROWS lines, clamped at the ends. The same kernel runs twice. The
// first pass blurs down the columns and writes each strip of ROWS rows column by column. The
// second pass blurs along the rows and writes the image. In a strip the neighbours along a row
// are as far apart in memory as those down a column in the image. An invocation makes ROWS
// pixels of the lines of one pack. So it writes side by side, and next to its neighbours.
//
// The .short variants are for radii up to RADIUS. They load everything at once and have no
// loop, in which sums would go through memory. The others read TAPS lines at a time. The
// weights come from gaussian_weights. The second pass takes the alpha from the image itself. If
// the image is not opaque and colours weigh by alpha, the kernels of gaussian_blur_alpha then
// write the image again.
//
//lathe:dtypes u8 f32
//lathe:variant *.first DST_MID ROWS=8 TAPS=4
//lathe:variant *.second SRC_MID ROWS=8 TAPS=4
//lathe:variant *.first.texel TEXEL DST_MID ROWS=8 TAPS=4
//lathe:variant *.second.texel TEXEL SRC_MID ROWS=8 TAPS=4
//lathe:variant {u8}.first.short3.texel TEXEL DST_MID ROWS=4 RADIUS=3
//lathe:variant {u8}.second.short3.texel TEXEL SRC_MID ROWS=4 RADIUS=3
//lathe:variant {u8}.first.short6.texel TEXEL DST_MID ROWS=4 RADIUS=6
//lathe:variant {u8}.second.short6.texel TEXEL SRC_MID ROWS=4 RADIUS=6
//lathe:variant {u8}.first.short9.texel TEXEL DST_MID ROWS=4 RADIUS=9
//lathe:variant {u8}.second.short9.texel TEXEL SRC_MID ROWS=4 RADIUS=9
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns;  // invocations along a strip: packs of the source, or of strips
	uint width;    // pixels a row of the result, in the second pass
	uint height;   // lines there are to read: those beyond repeat the first and the last
	uint line;     // first line to blur
	uint rows;     // rows of the result, in the second pass
	uint srcBase;  // pack of line 0
	uint srcPitch; // packs from row to row, or from strip to strip in the second pass
	uint dstBase;
	uint dstPitch; // the same of the result: strips come from the first pass
	uint channels; // floats a pixel, in f32
	uint radius;   // lines
	uint steps;    // ⌈(2·radius + ROWS) / TAPS⌉
	uint alphaBase; // pack of the image at the result's first, for the second pass
	uint alphaPitch;
} p;

#include "lib/pixels.glsl"
#if defined(SRC_MID)
#include "lib/alpha.glsl"
const vec3 SCALE = MID / PLACE;
#else
const vec3 SCALE = 1.0 / MID / PLACE;
#endif

// The first pass checks whether its source is opaque. If it is not, a flag says so to the
// kernels of gaussian_blur_alpha.
#if defined(SRC_MID)
#define SEE(v)
#else
layout(set = 0, binding = 3) writeonly buffer Flags { uint flags[4]; };
RAW seen; // RAW(OPAQUE) as long as all was opaque
#if defined(U8)
#define SEE(v) seen &= v;
#else
#define SEE(v) seen = v.a == OPAQUE ? seen : RAW(0.0);
#endif
#endif

#define SUM vec3
#if defined(U8)
vec3 taken(RAW v, uint k) { return placed(wordOf(v, k)); }
#else
vec3 taken(RAW v, uint k) { return v.rgb; }
#endif
#include "lib/gaussian.glsl"

const uint DEEP = ROWS / PACK; // packs of a column of a strip

void main() {
	uint x = gl_GlobalInvocationID.x, strip = gl_WorkGroupID.y;
	if (x >= p.columns) return;
	// Parameters are read once: a driver cannot know that stores leave them alone.
	uint srcPitch = p.srcPitch, dstPitch = p.dstPitch;
#if defined(SRC_MID)
	uint rows = p.rows, width = p.width;
	uint column = x / DEEP * ROWS, row = strip * ROWS + x % DEEP * PACK;
	uint from = p.srcBase + strip * srcPitch + x % DEEP, by = DEEP, first = column;
	uint to = p.dstBase + row * dstPitch + x / DEEP * DEEP, next = dstPitch;
	uint alphaPitch = p.alphaPitch, alpha = p.alphaBase + row * alphaPitch + x / DEEP * DEEP;
#else
	uint from = p.srcBase + x, by = srcPitch, first = strip * ROWS;
	uint to = p.dstBase + strip * dstPitch + x * ROWS, next = DEEP;
#endif
#if defined(DST_MID)
	seen = RAW(OPAQUE);
#endif
	vec3 sum[ROWS][PACK];
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		[[unroll]] for (uint k = 0; k < PACK; k++) sum[r][k] = vec3(0);
	}
	sumUp(from, by, int(p.line + first), int(p.height) - 1, sum);
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		[[unroll]] for (uint r = 0; r < ROWS; r += PACK) {
#if defined(SRC_MID)
			if (row + k < rows && column + r < width)
#endif
			{
				Pixel c[PACK]; // turned round
				[[unroll]] for (uint j = 0; j < PACK; j++) c[j].rgb = fma(sum[r + j][k], SCALE, vec3(HALF));
#if defined(SRC_MID)
				loadAlpha(alpha + k * alphaPitch + r / PACK, c);
#endif
				storePack(to + k * next + r / PACK, c);
			}
		}
	}
#if defined(DST_MID)
	if (seen != RAW(OPAQUE)) flags[0] = 1u;
#endif
}
