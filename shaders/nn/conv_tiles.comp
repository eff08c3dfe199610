// Makes the result of a convolution from the 16 matrices of nn/conv_tiles_in and nn/conv_tiles_filter:
// Aᵀ·m·A, where m are the 16 products of matrices. An invocation makes ROWS tiles of two by two
// elements of COLS texels of channels. It adds each product to the elements that it belongs to, so the
// products stay in registers. ADD adds to the result.
//
// A texel of a tile that has an element that is not finite is made again as plain sums: an infinite
// input spreads to elements of its tile that do not depend on it, and large inputs may overflow in a
// transform only.
//
//lathe:variant f32 F32 ROWS=4 COLS=1 LINES=8
//lathe:variant f32.add F32 ROWS=4 COLS=1 LINES=8 ADD
//lathe:variant f32.texel F32 TEXEL ROWS=16 COLS=1 LINES=1
//lathe:variant f32.texel.add F32 TEXEL ROWS=16 COLS=1 LINES=1 ADD
//lathe:variant f32.texel.wide F32 TEXEL ROWS=10 COLS=2 LINES=1
//lathe:variant f32.texel.wide.add F32 TEXEL ROWS=10 COLS=2 LINES=1 ADD
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define WIDTH 8
#define WG (WIDTH * LINES)
layout(local_size_x = WG) in;

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform samplerBuffer v;
layout(set = 0, binding = 1) uniform samplerBuffer u;
#define READ(name, i) texelFetch(name, int(i))
#else
layout(set = 0, binding = 0) readonly buffer Tiles { vec4 v[]; };
layout(set = 0, binding = 1) readonly buffer Matrices { vec4 u[]; };
#define READ(name, i) name[i]
#endif

#include "lib/conv_tiles.glsl"

#if defined(ADD)
#define STORE(at, e) y[at] += e
#else
#define STORE(at, e) y[at] = e
#endif

void main() {
	uint g = gl_WorkGroupID.z + p.firstG, tiles = p.tiles, kWide = p.kWide, c = p.c;
	uint column = gl_WorkGroupID.x * (WIDTH * COLS) + gl_LocalInvocationID.x % WIDTH;
	uint row = p.firstRow + (gl_WorkGroupID.y * LINES + gl_LocalInvocationID.x / WIDTH) * ROWS;
	uint from[ROWS], weight[COLS], vStep = p.vStep, uStep = p.uStep;
	[[unroll]] for (uint i = 0; i < ROWS; i++) from[i] = (g * tiles + min(row + i, tiles - 1)) * c;
	[[unroll]] for (uint j = 0; j < COLS; j++) weight[j] = g * 4 * c * kWide + min(column + WIDTH * j, kWide - 1);
	vec4 made[ROWS][COLS][4];
	[[unroll]] for (uint i = 0; i < ROWS; i++)
		[[unroll]] for (uint j = 0; j < COLS; j++)
			[[unroll]] for (uint e = 0; e < 4; e++) made[i][j][e] = vec4(0.0);
	for (uint m = 0; m < 16; m++) {
		vec4 acc[ROWS][COLS];
		[[unroll]] for (uint i = 0; i < ROWS; i++) [[unroll]] for (uint j = 0; j < COLS; j++) acc[i][j] = vec4(0.0);
		for (uint e = 0; e < c; e++) {
			vec4 b[4][COLS];
			[[unroll]] for (uint q = 0; q < 4; q++) [[unroll]] for (uint j = 0; j < COLS; j++) b[q][j] = READ(u, weight[j] + m * uStep + (4 * e + q) * kWide);
			[[unroll]] for (uint i = 0; i < ROWS; i++) {
				vec4 a = READ(v, from[i] + m * vStep + e);
				[[unroll]] for (uint j = 0; j < COLS; j++)
					acc[i][j] = fma(vec4(a.w), b[3][j], fma(vec4(a.z), b[2][j], fma(vec4(a.y), b[1][j], fma(vec4(a.x), b[0][j], acc[i][j]))));
			}
		}
		// Aᵀ has the rows 1 1 1 0 and 0 1 -1 -1.
		uvec2 at = uvec2(m / 4, m % 4);
		vec2 first = mix(vec2(1.0), vec2(0.0), equal(at, uvec2(3))), second = mix(mix(vec2(-1.0), vec2(1.0), equal(at, uvec2(1))), vec2(0.0), equal(at, uvec2(0)));
		vec4 factors = vec4(first.x * vec2(first.y, second.y), second.x * vec2(first.y, second.y));
		[[unroll]] for (uint i = 0; i < ROWS; i++)
			[[unroll]] for (uint j = 0; j < COLS; j++)
				[[unroll]] for (uint e = 0; e < 4; e++) made[i][j][e] = fma(vec4(factors[e]), acc[i][j], made[i][j][e]);
	}

	uint across = p.across, down = p.down, o1 = p.o1, o2 = p.o2, outK = p.outK, outB = p.outB, kAll = p.k, base = p.outBase + g * p.outG;
	uint lost = 0, line = row / across, b = line / down;
	uvec2 at = uvec2(row - line * across, line - b * down);
	vec4 add[COLS];
	[[unroll]] for (uint j = 0; j < COLS; j++) add[j] = added(g, 4 * (column + WIDTH * j));
	[[unroll]] for (uint i = 0; i < ROWS; i++) {
		bvec2 more = lessThan(2 * at + 1, uvec2(o2, o1));
		uint to = base + b * outB + 2 * (at.y * o2 + at.x);
		[[unroll]] for (uint j = 0; j < COLS; j++) {
			uint k = 4 * (column + WIDTH * j), bit = i * COLS + j;
			uvec4 bits = max(max(floatBitsToUint(made[i][j][0]) & 0x7f800000u, floatBitsToUint(made[i][j][1]) & 0x7f800000u), max(floatBitsToUint(made[i][j][2]) & 0x7f800000u, floatBitsToUint(made[i][j][3]) & 0x7f800000u));
			bool there = all(lessThan(uvec2(row + i, k), uvec2(tiles, kAll))), finite = max(max(bits.x, bits.y), max(bits.z, bits.w)) < 0x7f800000u;
			lost |= mix(0u, 1u << bit, all(bvec2(there, !finite)));
			there = all(bvec2(there, finite));
			// No && and ||: each would be a branch, of which these loops have hundreds.
			bvec4 inside = bvec4(there, all(bvec2(there, more.x)), all(bvec2(there, more.y)), all(bvec3(there, more)));
			[[unroll]] for (uint q = 0; q < 4; q++)
				[[unroll]] for (uint e = 0; e < 4; e++)
					if (all(bvec2(inside[e], k + q < kAll))) STORE(to + (k + q) * outK + e / 2 * o2 + e % 2, made[i][j][e][q] + add[j][q]);
		}
		at.x++;
		bool end_ = at.x == across;
		at = mix(at, uvec2(0, at.y + 1), bvec2(end_));
		end_ = at.y == down;
		at.y = mix(at.y, 0u, end_);
		b = mix(b, b + 1, end_);
	}
	while (lost != 0) {
		uint bit = uint(findLSB(lost)), tile = row + bit / COLS, texel = column + WIDTH * (bit % COLS);
		lost &= lost - 1;
		line = tile / across;
		b = line / down;
		at = 2 * uvec2(tile - line * across, line - b * down);
		for (uint e = 0; e < 4; e++) {
			uvec2 o = at + uvec2(e % 2, e / 2);
			vec4 sum = plain(b * p.inB + g * p.inG + o.y * p.line + o.x * c, 9 * g * 4 * c * kWide + texel) + added(g, 4 * texel);
			if (all(lessThan(o, uvec2(o2, o1)))) {
				[[unroll]] for (uint q = 0; q < 4; q++) if (4 * texel + q < kAll) STORE(base + b * outB + (4 * texel + q) * outK + o.y * o2 + o.x, sum[q]);
			}
		}
	}
}
