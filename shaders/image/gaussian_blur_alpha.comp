// The passes of gaussian_blur for pictures that are not opaque. Colours weigh by alpha: they
// are multiplied by it before they are summed, and divided by the blurred alpha afterwards.
// Where alpha becomes 0, so do colours. The kernels do nothing unless the first pass of
// gaussian_blur has set flags.
//
// Between the passes a pixel is four floats, in strips of ROWS rows as in gaussian_blur. For u8
// it has the units of those strips. If all pixels that it depends on are opaque, it is rounded
// as they are. So opaque parts of a picture become the same bits as in an opaque picture.
//
//lathe:dtypes u8 f32
//lathe:variant *.first DST_WIDE ROWS=8 TAPS=4
//lathe:variant *.second SRC_WIDE ROWS=8 TAPS=4
//lathe:variant *.first.texel TEXEL DST_WIDE ROWS=8 TAPS=4
//lathe:variant *.second.texel TEXEL SRC_WIDE ROWS=8 TAPS=4
//lathe:variant {u8}.second.keep.texel TEXEL SRC_WIDE DST_READ KEEP ROWS=8 TAPS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns;  // invocations along a strip: packs of the source, or pixels of strips
	uint width;    // pixels a row of the result, in the second pass
	uint height;   // lines there are to read: those beyond repeat the first and the last
	uint line;     // first line to blur
	uint rows;     // rows of the result, in the second pass
	uint srcBase;  // pack of line 0
	uint srcPitch; // packs from row to row, or pixels from strip to strip in the second pass
	uint dstBase;
	uint dstPitch; // the same of the result: strips come from the first pass
	uint channels;
	uint radius;   // lines
	uint steps;    // ⌈(2·radius + ROWS) / TAPS⌉
	uint across;   // tiles along a strip; the invocations of a group make one
	uint tiles;
	uint stride;   // groups
	uint keep;     // 1: pixels stay that depend on opaque pixels only; in the .texel variants those with .keep
} p;

#include "lib/pixels.glsl"

layout(set = 0, binding = 3) readonly buffer Flags { uint flags[4]; };

#define SUM vec4
#define SEE(v)
vec4 taken(RAW v, uint k) {
#if defined(SRC_WIDE)
	return v;
#else
	Pixel x = pixelOf(v, k);
	float a = weightOf(x);
	return vec4(x.rgb * a, a);
#endif
}
#include "lib/gaussian.glsl"

// A sum of alphas above this part of the largest one is a sum of full alphas. The rest is
// the rounding of weights.
const float OPAQUE_SUM = 1.0 - 1.0 / 8192.0;

#if defined(DST_WIDE)
vec4 midOf(vec4 s) {
#if defined(U8)
	vec3 c = fma(s.rgb, vec3(1.0 / MID), vec3(HALF));
	return mix(vec4(s.rgb * (1.0 / MID), s.a), vec4(vec3(ivec3(midLevels(c))), 1.0), bvec4(s.a >= OPAQUE_SUM));
#else
	return s;
#endif
}
#else
// pixelOfSum is the result, HALF added.
Pixel pixelOfSum(vec4 s) {
#if defined(U8)
	int alpha = int(fma(s.a, FULL, HALF));
	vec3 c = s.rgb / mix(max(s.a, 1.0 / 8192.0), 1.0, s.a >= OPAQUE_SUM);
	c = min(fma(c, vec3(MID), vec3(HALF)), FULL + HALF);
	return Pixel(mix(vec3(0.0), c, bvec3(alpha > 0)), uint(min(alpha, 255)) << 24);
#else
	bool some = s.a > 0.0;
	return Pixel(mix(vec3(0.0), s.rgb / mix(1.0, s.a, some), bvec3(some)), mix(0.0, s.a, some));
#endif
}
#endif

void main() {
	// A few groups make all tiles, so the launch costs almost nothing if there are no tiles
	// to make.
	uint tiles = flags[0] * p.tiles, across = p.across, columns = p.columns;
	for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += p.stride) {
		uint here = tile % across * 64 + gl_LocalInvocationID.x, strip = tile / across;
		uint x = min(here, columns - 1);
		uint srcPitch = p.srcPitch, dstPitch = p.dstPitch;
#if defined(SRC_WIDE)
		uint column = x / ROWS * ROWS, row = strip * ROWS + x % ROWS;
		uint from = p.srcBase + strip * srcPitch + x % ROWS, by = ROWS, first = column;
#else
		uint from = p.srcBase + x, by = srcPitch, first = strip * ROWS;
#endif
		vec4 sum[ROWS][PACK_IN];
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			[[unroll]] for (uint k = 0; k < PACK_IN; k++) sum[r][k] = vec4(0);
		}
		sumUp(from, by, int(p.line + first), int(p.height) - 1, sum);
#if defined(SRC_WIDE)
		uint to = p.dstBase + row * dstPitch + column / PACK, end = mix(0u, p.width, all(lessThan(uvec2(here, row), uvec2(columns, p.rows))));
		[[unroll]] for (uint r = 0; r < ROWS; r += PACK) {
#if defined(U8) && !defined(TEXEL)
			bool stays = p.keep != 0u && sum[r][0].a >= OPAQUE_SUM;
#else
			const bool stays = false;
#endif
			if (column + r < end && !stays) {
				Pixel c[PACK];
				[[unroll]] for (uint j = 0; j < PACK; j++) c[j] = pixelOfSum(sum[r + j][0]);
#if defined(KEEP)
				uvec4 made, old = dst[to + r / PACK];
				[[unroll]] for (uint j = 0; j < PACK; j++) made[j] = mix(packPixel(c[j]), old[j], sum[r + j][0].a >= OPAQUE_SUM);
				storeTexel(to + r / PACK, made);
#else
				storePack(to + r / PACK, c);
#endif
			}
		}
#else
		uint to = p.dstBase + strip * dstPitch + x * (PACK * ROWS);
		if (here < columns) {
			[[unroll]] for (uint k = 0; k < PACK; k++) {
				[[unroll]] for (uint r = 0; r < ROWS; r++) dst[to + k * ROWS + r] = midOf(sum[r][k]);
			}
		}
#endif
	}
}
