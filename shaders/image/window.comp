// Minima, maxima and sums over a square of pixels, in two passes: first down the columns, then
// along the rows. Between them a pixel is four floats: colours times alpha, and alpha, or times
// FULL if alpha does not weigh. For u8 all are whole numbers, and sums of them are exact.
//
// The kernels without a suffix make SPAN pixels an invocation from all pixels around these. Those
// with .long make as many pixels as the square is wide. Their cost for a pixel does not grow with
// it: what a pixel depends on is the end of the first window and the beginning of what follows
// (M. van Herk, and J. Gil and M. Werman). Nothing is subtracted, so sums of floats stay near.
//
// Those with .alpha do nothing unless image/box_sums has set a flag. Alpha weighs in them.
//
//lathe:dtypes u8 f32
//lathe:variant *.min.first LEAST DST_WIDE SPAN=4
//lathe:variant *.min.second LEAST SRC_WIDE SPAN=4
//lathe:variant *.max.first MOST DST_WIDE SPAN=4
//lathe:variant *.max.second MOST SRC_WIDE SPAN=4
//lathe:variant *.sum.first SUM DST_WIDE SPAN=4
//lathe:variant *.sum.second SUM SRC_WIDE SPAN=4
//lathe:variant *.min.first.long LEAST DST_WIDE LONG
//lathe:variant *.min.second.long LEAST SRC_WIDE LONG
//lathe:variant *.max.first.long MOST DST_WIDE LONG
//lathe:variant *.max.second.long MOST SRC_WIDE LONG
//lathe:variant *.sum.first.long SUM DST_WIDE LONG
//lathe:variant *.sum.second.long SUM SRC_WIDE LONG
//lathe:variant {u8}.sum.first.alpha SUM DST_WIDE SPAN=4 FLAGS=2
//lathe:variant {u8}.sum.second.alpha SUM SRC_WIDE SPAN=4 FLAGS=2
//lathe:variant {u8}.sum.first.long.alpha SUM DST_WIDE LONG FLAGS=3
//lathe:variant {u8}.sum.second.long.alpha SUM SRC_WIDE LONG FLAGS=3
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	uint radius;    // pixels on each side
	uint weigh;     // 1: colours weigh by alpha; 0: alpha is that of the image
	uint alphaBase; // the image, in the second pass
	uint alphaPitch;
} p;

#include "lib/pixels.glsl"
#if defined(SRC_WIDE) && !defined(FLAGS)
#define IMAGE 2
#define ENDS 3
#include "lib/alpha.glsl"
#else
#define ENDS 2
#endif

#include "lib/window.glsl"

#if defined(LONG)
// Sums of whole numbers can be too large for a float, so these have the type of the values.
layout(set = 0, binding = ENDS) buffer Ends { VALUE ends[]; };
#endif

// A line along which pixels are made: a row, or a column of the image.
struct Line {
	uint from; // where pixel 0 lies
	uint by;   // from pixel to pixel
	int last;  // the last pixel that there is to read
};

VALUE at(Line l, int i) { return taken(fetchPack(l.from + uint(clamp(i, 0, l.last)) * l.by)); }

void make(uint gx, uint gy) {
	uint wide = 2 * p.radius + 1;
#if defined(LONG)
	uint span = wide;
#else
	const uint span = SPAN;
#endif
#if defined(SRC_WIDE)
	uint first = gx * span, y = p.row + gy, count = p.columns;
	Line l = Line(p.srcBase + y * p.srcPitch, 1u, int(min(p.width - 1, p.column + p.columns - 1 + p.radius)));
	uint begin = p.column;
#else
	uint x = gx, first = gy * span, count = p.rows;
	Line l = Line(p.srcBase + p.column + x, p.srcPitch, int(min(p.height - 1, p.row + p.rows - 1 + p.radius)));
	uint begin = p.row;
#endif
	int low = int(begin + first) - int(p.radius); // of the window of the first pixel
#if defined(LONG)
#if defined(SRC_WIDE)
#define END(j) ends[gy * p.columns + first + (j)]
#define STORE(j, v) store(p.column + first + (j), y, v)
#else
#define END(j) ends[(first + (j)) * p.columns + x]
#define STORE(j, v) store(p.column + x, p.row + first + (j), v)
#endif
	uint n = min(span, count - first);
	VALUE v = at(l, low + int(wide) - 1);
	for (uint j = wide - 1; j > 0; j--) {
		if (j < n) END(j) = v;
		v = both(at(l, low + int(j) - 1), v);
	}
	STORE(0, v);
	v = at(l, low + int(wide));
	for (uint j = 1; j < n; j++) {
		STORE(j, both(END(j), v));
		v = both(v, at(l, low + int(wide + j)));
	}
#else
	// The ends of the first window, what all windows have, and the beginning of what follows.
	VALUE left[SPAN - 1], right[SPAN - 1];
	[[unroll]] for (uint j = 0; j < SPAN - 1; j++) {
		left[j] = at(l, low + int(j));
		right[j] = at(l, low + int(wide + j));
	}
	[[unroll]] for (uint j = 1; j < SPAN - 1; j++) {
		left[SPAN - 2 - j] = both(left[SPAN - 2 - j], left[SPAN - 1 - j]);
		right[j] = both(right[j - 1], right[j]);
	}
	VALUE made[SPAN];
	[[unroll]] for (uint j = 0; j < SPAN; j++) {
		if (j == 0) made[j] = left[0];
		else if (j == SPAN - 1) made[j] = right[j - 1];
		else made[j] = both(left[j], right[j - 1]);
	}
	for (uint t = SPAN - 1; t < wide; t++) {
		VALUE v = at(l, low + int(t));
		[[unroll]] for (uint j = 0; j < SPAN; j++) made[j] = both(made[j], v);
	}
	[[unroll]] for (uint j = 0; j < SPAN; j++) {
		if (first + j < count) {
#if defined(SRC_WIDE)
			store(p.column + first + j, y, made[j]);
#else
			store(p.column + x, p.row + first + j, made[j]);
#endif
		}
	}
#endif
}
