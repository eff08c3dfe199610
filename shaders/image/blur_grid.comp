// Gaussian blur of RGBA bytes on a grid of cells of k×k pixels, whose cost does not grow with σ.
// Between the steps there are planes of floats: each row of cells has a row of each colour, and of
// alpha in the .alpha variants.
//
//   reduce  sums the pixels of a column with the weights of a quadratic B-spline, a row for each cell
//   expand  makes pixels of four rows of cells, by a cubic B-spline
//
// Between these two, image/blur_grid_sums reduces the rows, blurs the cells, and expands the rows.
//
//lathe:variant u8.reduce U8 REDUCE
//lathe:variant u8.reduce.texel U8 REDUCE TEXEL
//lathe:variant u8.reduce.alpha U8 REDUCE ALPHA
//lathe:variant u8.reduce.alpha.texel U8 REDUCE ALPHA TEXEL
//lathe:variant u8.expand U8 EXPAND
//lathe:variant u8.expand.texel U8 EXPAND TEXEL
//lathe:variant u8.expand.alpha U8 EXPAND ALPHA
//lathe:variant u8.expand.alpha.texel U8 EXPAND ALPHA TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/blur_grid_params.glsl"
} p;

#include "lib/blur_grid.glsl"

#if defined(REDUCE)
const uint CELLS = 8; // rows of cells an invocation makes

void make(uint x, uint y) {
	uint pitch = p.srcPitch, k = p.size, to = p.dstBase + x, dstPitch = p.dstPitch, cells = p.rows;
	int last = p.height - 1, column = p.column + int(x);
	uint from = p.srcBase + uint(clamp(column, 0, p.width - 1));
#if !defined(TEXEL)
	// Floats that have the same place in neighbouring cells follow each other.
	to = p.dstBase + (x & p.mask) * p.step + (x >> p.bits);
#endif
	float scale = 1.0 / float(int(k * k * k));
	FLOATS first[PARTS], second[PARTS], third[PARTS];
	[[unroll]] for (uint c = 0; c < PARTS; c++) first[c] = second[c] = third[c] = FLOATS(0.0);
	for (uint n = 0; n < CELLS + 2; n++) {
		int row = p.row + int((y * CELLS + n) * k);
		// The pixels of a block belong to the third part of a cell, the second of the next
		// one, and the first of the one after it.
		for (uint i = 0; i < k; i += 2) {
			RAW v[2];
			[[unroll]] for (uint j = 0; j < 2; j++) v[j] = fetch(from + uint(clamp(row + int(i + j), 0, last)) * pitch);
			[[unroll]] for (uint j = 0; j < 2; j++) {
				uint a = (i + j) * (i + j + 1) / 2, b = (k - 1 - i - j) * (k - i - j) / 2;
				float w1 = float(int(a)) * scale, w3 = float(int(b)) * scale, w2 = float(int(k * k - a - b)) * scale;
				FLOATS c[PARTS];
				partsOf(v[j], c);
				[[unroll]] for (uint q = 0; q < PARTS; q++) {
					first[q] += w1 * c[q];
					second[q] += w2 * c[q];
					third[q] += w3 * c[q];
				}
			}
		}
		uint cell = y * CELLS + n - 2;
		if (n >= 2 && cell < cells) {
			[[unroll]] for (uint q = 0; q < PARTS; q++) dst[to + (cell * PARTS + q) * dstPitch] = ended(third[q] * PLACED[q], column);
		}
		[[unroll]] for (uint q = 0; q < PARTS; q++) {
			third[q] = second[q];
			second[q] = first[q];
			first[q] = FLOATS(0.0);
		}
	}
	TELL
}
#else
void storePixels(uint to, FLOATS c[PARTS], uint at) {
#if defined(ALPHA)
	// What is within rounding of opaque is not divided, as in the variants without alpha.
	FLOATS alpha = c[3];
#if defined(TEXEL)
	bvec4 all = greaterThanEqual(alpha, vec4(255.0 - 255.0 / 8192.0)), some = greaterThanEqual(alpha, vec4(0.5));
#else
	bool all = alpha >= 255.0 - 255.0 / 8192.0, some = alpha >= 0.5;
#endif
	FLOATS by = mix(255.0 / max(alpha, 0.25), FLOATS(1.0), all);
	WORDS word = WORDS(INTS(min(alpha + 0.5, 255.5))) << 24;
	[[unroll]] for (uint q = 0; q < 3; q++) c[q] = mix(FLOATS(0.0), min(c[q] * by, 255.0), some);
#elif defined(TEXEL)
	WORDS word = texelFetch(image, int(at)) & 0xff000000u;
#else
	WORDS word = image[at] & 0xff000000u;
#endif
	word |= WORDS(INTS(c[0] + 0.5)) | (WORDS(INTS(c[1] + 0.5)) << 8) | (WORDS(INTS(c[2] + 0.5)) << 16);
#if defined(TEXEL)
	// As storeTexel in lib/pixel_store.glsl.
	dst[to] = mix(word, uvec4(to), equal(uvec4(to), uvec4(0xffffffffu)));
#else
	dst[to] = word;
#endif
}

void make(uint x, uint y) {
	uint k = p.size, pitch = p.srcPitch, dstPitch = p.dstPitch, imagePitch = p.imagePitch, from = p.srcBase + y * PARTS * pitch + x;
	FLOATS v[4][PARTS];
	[[unroll]] for (uint r = 0; r < 4; r++) {
		[[unroll]] for (uint q = 0; q < PARTS; q++) v[r][q] = fetch(from + (r * PARTS + q) * pitch);
	}
	float scale = 0.5 / float(int(k));
	int low = p.row + int(y * k), rows = int(p.rows);
	[[dont_unroll]] for (uint i = 0; i < k; i++) {
		float t = float(int(2 * i + 1)) * scale, u = 1.0 - t;
		float w3 = t * t * t * (1.0 / 6.0), w0 = u * u * u * (1.0 / 6.0);
		float w1 = (t * t * (3.0 * t - 6.0) + 4.0) * (1.0 / 6.0), w2 = 1.0 - w0 - w1 - w3;
		FLOATS made[PARTS];
		[[unroll]] for (uint q = 0; q < PARTS; q++) made[q] = w0 * v[0][q] + w1 * v[1][q] + w2 * v[2][q] + w3 * v[3][q];
		int row = low + int(i);
		if (row >= 0 && row < rows) storePixels(p.dstBase + uint(row) * dstPitch + x, made, p.imageBase + uint(row) * imagePitch + x);
	}
}
#endif
