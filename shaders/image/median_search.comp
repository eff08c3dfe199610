// The median of a square of pixels, for each colour on its own, by a search for its bits from the
// highest one down: a bit is set if no more than half of the pixels are below the number with it.
// Colours are made numbers of BITS bits in the same order. image/median does three by three.
//
// The .alpha variants weigh colours by alpha, as those of image/median do. The .wide ones are for
// large squares: some drivers end an invocation after 65 535 iterations of loops.
//
//lathe:dtypes u8 f32
//lathe:variant * ROWS=4 TAPS=4
//lathe:variant *.alpha ALPHA ROWS=4 TAPS=4
//lathe:variant *.wide ROWS=4 TAPS=64
//lathe:variant *.wide.alpha ALPHA ROWS=4 TAPS=64
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	uint radius;   // pixels on each side
	uint steps;    // ⌈(2·radius + 1) / TAPS⌉; an iteration reads TAPS pixels of a row
	uint half_;    // pixels that may be below the median
} p;

#include "lib/pixels.glsl"
#define FLAGS
#include "lib/around.glsl"

#if defined(U8)
#define TAP fetchPack
#else
// TAP is fetchPack without branches: SwiftShader takes all of the memory to compile those of many pixels.
vec4 TAP(uint i) {
	uint o = i * p.channels, next = min(p.channels - 1, 1); // grey is all three colours
	bool four = p.channels == 4;
	return vec4(src[o], src[o + next], src[o + 2 * next], mix(FULL, src[o + (four ? 3 : 0)], four));
}
#endif

#if defined(ALPHA)
#include "lib/weighed.glsl"
#define KEY ivec4
#define BKEY bvec4
#define FKEY vec4
FKEY valueOf(Pixel v) { return weighed(v); }
#else
#define KEY ivec3
#define BKEY bvec3
#define FKEY vec3
FKEY valueOf(Pixel v) { return v.rgb; }
#endif

// keyOf is an integer with a sign that has the order of the value, and FIRST is the least one.
#if defined(U8)
#if defined(ALPHA)
const uint BITS = 16;
#else
const uint BITS = 8;
#endif
const int FIRST = 0;
KEY keyOf(FKEY v) { return KEY(v); }
FKEY valueOfKey(KEY k) { return FKEY(k); }
#else
const uint BITS = 32;
const int FIRST = int(0x80000000u);
KEY turned(KEY k) { return k ^ ((k >> 31) & 0x7fffffff); } // its own inverse
KEY keyOf(FKEY v) { return turned(floatBitsToInt(v)); }
FKEY valueOfKey(KEY k) { return intBitsToFloat(turned(k)); }
#endif

void tile(uint x, uint first, uint end) {
	int radius = int(p.radius), top = int(p.row + first) - radius, left = int(x) - radius;
	uint lines = 2 * p.radius + ROWS, wide = 2 * p.radius + 1, steps = p.steps;
	int most = int(p.half_);
	KEY found[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) found[r] = KEY(FIRST);
	for (uint bit = 0; bit < BITS; bit++) {
		KEY next[ROWS], below[ROWS];
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			next[r] = found[r] ^ KEY(1 << (BITS - 1 - bit)); // this bit of FIRST is the opposite
			below[r] = KEY(0);
		}
		for (uint y = 0; y < lines; y++) {
			KEY inRow[ROWS];
			[[unroll]] for (uint r = 0; r < ROWS; r++) inRow[r] = KEY(0);
			uint row = rowAt(top + int(y));
			for (uint s = 0; s < steps; s++) {
				[[unroll]] for (uint four = 0; four < TAPS; four += 4) {
					KEY k[4];
					[[unroll]] for (uint t = 0; t < 4; t++) {
						uint i = s * TAPS + four + t;
						k[t] = keyOf(valueOf(pixelOf(TAP(row + columnAt(left + int(i))), 0)));
						// What is beyond the square is below nothing.
						k[t] = mix(KEY(0x7fffffff), k[t], BKEY(i < wide));
					}
					[[unroll]] for (uint t = 0; t < 4; t++) {
						[[unroll]] for (uint r = 0; r < ROWS; r++) inRow[r] += KEY(lessThan(k[t], next[r]));
					}
				}
			}
			[[unroll]] for (uint r = 0; r < ROWS; r++) below[r] += inRow[r] * int(y - r < wide); // 0 before row r too
		}
		[[unroll]] for (uint r = 0; r < ROWS; r++) found[r] = mix(next[r], found[r], greaterThan(below[r], KEY(most)));
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		uint y = p.row + first + r;
		Pixel own = pixelAt(int(x), int(y));
		if (first + r < end) {
			see(own);
#if defined(ALPHA)
			storePixel(x, y, unweighed(valueOfKey(found[r])));
#else
			storePixel(x, y, Pixel(valueOfKey(found[r]), own.alpha));
#endif
		}
	}
}

void main() EACH_TILE(tile)
