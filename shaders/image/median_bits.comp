// Medians of five by five and seven by seven opaque RGBA bytes for processors, by bits. A word has one bit of
// 32 neighbouring pixels, so an instruction does what it does for all of them. The bits of the median are
// found from the highest one down: among the pixels whose higher bits are those of the median, count
// those whose next bit is 0 (M. Ataman and others, Median filtering by the radix method, 1980). Adders
// of bits count.
//
//   slice   makes words of the pixels: for each row, bit and run of columns, those from RADIUS columns before
//           the run to RADIUS columns after it
//   find    makes words of the medians
//   merge   makes pixels of these
//
//lathe:variant u8.slice.two SLICE RADIUS=2
//lathe:variant u8.slice.three SLICE RADIUS=3
//lathe:variant u8.find.two FIND RADIUS=2
//lathe:variant u8.find.three FIND RADIUS=3
//lathe:variant u8.merge.two MERGE RADIUS=2
//lathe:variant u8.merge.three MERGE RADIUS=3
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint runs;   // of a row, RUN columns each
	uint width;  // of the picture
	int first;   // the row of the picture that slice reads first
	int last;    // the last row that is bound
	uint base;   // pixel of row 0
	uint pitch;
	uint toBase; // of the result, for merge: pixel of the first row
	uint toPitch;
} p;

layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { uint dst[]; };

const uint RUN = 32 - 2 * RADIUS;
const uint COLOURS = 24; // bits of a pixel without alpha

#if !defined(FIND)
#include "lib/transpose.glsl"
#endif

#if defined(SLICE)
layout(set = 0, binding = 2) writeonly buffer Flags { uint flags[4]; };

void main() {
	uint run = gl_GlobalInvocationID.x, y = gl_WorkGroupID.y, runs = p.runs;
	if (run >= runs) return;
	uint from = p.base + uint(clamp(p.first + int(y), 0, p.last)) * p.pitch, seen = 0xffffffffu;
	int left = int(run * RUN) - RADIUS, last = int(p.width) - 1;
	uint v[32];
	[[unroll]] for (int k = 0; k < 32; k++) {
		v[k] = src[from + uint(clamp(left + k, 0, last))];
		seen &= v[k];
	}
	TRANSPOSE(v)
	[[unroll]] for (uint b = 0; b < COLOURS; b++) dst[(y * COLOURS + b) * runs + run] = v[b];
	if (seen < 0xff000000u) flags[0] = 1u;
}
#elif defined(FIND)
// add makes a and b with the carry into b: a + b + c = sum + 2·carry.
void add(inout uint a, uint b, uint c, out uint carry) {
	uint half_ = a ^ b;
	carry = (a & b) | (half_ & c);
	a = half_ ^ c;
}

// three is the number of ones of seven words, three bits at each place.
uvec3 three(uint v[7]) {
	uint a = v[0], c0, c1, c2, c3;
	add(a, v[1], v[2], c0);
	add(a, v[3], v[4], c1);
	add(a, v[5], v[6], c2);
	add(c0, c1, c2, c3);
	return uvec3(a, c0, c3);
}

const uint SIDE = 2 * RADIUS + 1;

void main() {
	uint run = gl_GlobalInvocationID.x, y = gl_WorkGroupID.y / 3, colour = gl_WorkGroupID.y % 3, runs = p.runs;
	if (run >= runs) return;
	uint same[SIDE][SIDE], zero[SIDE][SIDE]; // of the pixels around: higher bits are those of the median, and the next one is 0
	[[unroll]] for (uint i = 0; i < SIDE; i++) {
		[[unroll]] for (uint k = 0; k < SIDE; k++) same[i][k] = 0xffffffffu;
	}
	// rank is how many of the pixels that are left are below the median at most, a word for each bit.
	uint rank[6];
	[[unroll]] for (uint b = 0; b < 6; b++) rank[b] = (SIDE * SIDE / 2 >> b & 1u) * 0xffffffffu;
	uint from = (y * COLOURS + colour * 8 + 7) * runs + run, to = from, row = COLOURS * runs;
	for (uint bit = 0; bit < 8; bit++) {
		uint ones[7], twos[7], fours[7];
		[[unroll]] for (uint i = 0; i < 7; i++) {
			uint v[7];
			[[unroll]] for (uint k = 0; k < 7; k++) v[k] = 0u;
			if (i < SIDE) {
				uint word = ~src[from + i * row];
				[[unroll]] for (uint k = 0; k < SIDE; k++) {
					zero[i][k] = same[i][k] & (word >> k);
					v[k] = zero[i][k];
				}
			}
			uvec3 n = three(v);
			ones[i] = n.x;
			twos[i] = n.y;
			fours[i] = n.z;
		}
		uvec3 a = three(ones), b = three(twos), c = three(fours);
		uint count[6] = uint[](a.x, a.y, a.z, b.z, c.z, 0u), c4, c8, d8, c16, e16;
		add(count[1], b.x, 0u, c4);
		add(count[2], b.y, c.x, c8);
		add(count[2], c4, 0u, d8);
		add(count[3], c.y, c8, c16);
		add(count[3], d8, 0u, e16);
		add(count[4], c16, e16, count[5]);
		// made is 1 where no more than rank pixels have a 0.
		uint borrow = 0u, less[6];
		[[unroll]] for (uint i = 0; i < 6; i++) {
			uint differ = rank[i] ^ count[i];
			less[i] = differ ^ borrow;
			borrow = (count[i] & ~rank[i]) | (borrow & ~differ);
		}
		uint made = ~borrow;
		[[unroll]] for (uint i = 0; i < 6; i++) rank[i] ^= made & (rank[i] ^ less[i]);
		[[unroll]] for (uint i = 0; i < SIDE; i++) {
			[[unroll]] for (uint k = 0; k < SIDE; k++) same[i][k] = zero[i][k] ^ (same[i][k] & made);
		}
		dst[to] = made;
		from -= runs;
		to -= runs;
	}
}
#else
layout(set = 0, binding = 2) readonly buffer Image { uint image[]; };

void main() {
	uint run = gl_GlobalInvocationID.x, y = gl_WorkGroupID.y, runs = p.runs;
	if (run >= runs) return;
	uint v[32];
	[[unroll]] for (uint b = 0; b < 32; b++) v[b] = 0u;
	[[unroll]] for (uint b = 0; b < COLOURS; b++) v[b] = src[(y * COLOURS + b) * runs + run];
	TRANSPOSE(v)
	uint left = run * RUN, from = p.base + y * p.pitch + left, to = p.toBase + y * p.toPitch + left;
	[[unroll]] for (uint k = 0; k < RUN; k++) {
		if (left + k < p.width) dst[to + k] = v[k] | (image[from + k] & 0xff000000u);
	}
}
#endif
