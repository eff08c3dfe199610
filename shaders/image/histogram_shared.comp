// image/histogram for GPUs: the histograms of all tiles of an image in one launch. A tile is counted
// by the workgroups of a row of the grid, each of which takes every so many runs of its pixels. For a
// histogram of each colour, a workgroup counts one colour.
//
// There are no atomics (docs/adr/0037), so each invocation counts in bytes of its own in shared
// memory, four in a word, after V. Podlozhnyuk, Histogram calculation in CUDA, 2007. Words of the
// same levels lie side by side, so that no two invocations use a bank at the same time. Before a byte
// overflows, the invocations add the bytes of all of them, each for some words.
//
//lathe:dtypes u8 f32
//lathe:variant *.luma COUNT_LUMA
//lathe:variant *.all COUNT_ALL
//lathe:variant *.each COUNT_EACH
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// SHARED is the size of shared memory in words, which is the least that a device has.
#define SHARED 4096
#if defined(U8)
#define LANES 64
layout(local_size_x = 64) in;
#else
#define LANES 16
layout(local_size_x = 16) in;
#endif

layout(push_constant) uniform Params {
	uint left; // the pixels to count
	uint top;
	uint right;
	uint bottom;
	uint width; // of the image
	uint height;
	uint tilesX;
	uint tilesY;
	uint first;    // histogram of the first workgroup in z
	uint base;     // first pixel of row 0
	uint pitch;    // pixels from row to row
	uint channels; // floats a pixel, in f32
	uint fresh;    // 1 if the counts begin at 0
} p;

#if defined(U8)
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
#else
layout(set = 0, binding = 0) readonly buffer Src { float src[]; };
#endif
// For each histogram and level, the counts of its workgroups.
layout(set = 0, binding = 1) buffer Counts { uint counts[]; };

#include "lib/histogram.glsl"
#include "lib/histogram_shared.glsl"

#if defined(COUNT_EACH)
const uint COLOURS = 3;
#else
const uint COLOURS = 1;
#endif
#if defined(COUNT_ALL)
const uint BATCH = 5; // Runs whose counts fit bytes: an invocation counts 16 pixels of a run.
#else
const uint BATCH = 15;
#endif
const uint RUN = 16 * LANES; // pixels

// edge is the first pixel of a tile, of n pixels in tiles: at·n/tiles, for a product above 2³² too.
uint edge(uint at, uint n, uint tiles) { return at * (n / tiles) + at * (n % tiles) / tiles; }

void main() {
	lane = gl_LocalInvocationID.x;
	uint table = p.first + gl_WorkGroupID.z, tile = table / COLOURS, colour = table % COLOURS;
	uint x = tile % p.tilesX, y = tile / p.tilesX;
	uint left = max(edge(x, p.width, p.tilesX), p.left), right = min(edge(x + 1, p.width, p.tilesX), p.right);
	uint top = max(edge(y, p.height, p.tilesY), p.top), bottom = min(edge(y + 1, p.height, p.tilesY), p.bottom);
	uint columns = max(right, left) - left, rows = max(bottom, top) - top;
	uint runs = (columns + RUN - 1) / RUN, all = runs * rows, step = gl_NumWorkGroups.x;
	clearSums();
	for (uint batch = gl_WorkGroupID.x; batch < all; batch += BATCH * step) {
		clearCounts();
		uint end = min(batch + BATCH * step, all);
		for (uint run = batch; run < end; run += step) {
			uint skipped = run % runs * RUN, last = min(RUN, columns - skipped) - 1;
			uint from = p.base + (top + run / runs) * p.pitch + left + skipped;
			for (uint i = lane; i <= last; i += 4 * LANES) {
				// All loads are on their way before the first pixel is counted.
				PIXEL v[4];
				[[unroll]] for (uint k = 0; k < 4; k++) v[k] = load(from + min(i + k * LANES, last));
				[[unroll]] for (uint k = 0; k < 4; k++) note(v[k], colour, i + k * LANES <= last);
			}
		}
		barrier();
		addCounts();
		barrier();
	}
	uint at = table * BINS * step + gl_WorkGroupID.x;
	[[unroll]] for (uint j = 0; j < WORDS / LANES; j++) {
		[[unroll]] for (uint k = 0; k < 4; k++) {
			uint to = at + (4 * (lane + j * LANES) + k) * step;
			counts[to] = sums[j][k] + mix(counts[to], 0u, p.fresh != 0);
		}
	}
}
