// Makes a table for the colours of an image from its histograms, for each colour: what a level
// becomes, or in f32 the factor and the offset of a stretch. One workgroup does it. Each
// invocation reads the whole histogram, or with .scan what all have made of it, and writes some levels.
//
//lathe:dtypes u8 f32
//lathe:variant *
//lathe:variant *.scan SCAN
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint each;     // 1: each colour has its own histogram
	uint equalize; // 1: equalise, 0: stretch
	uint clip;     // the part to clip at each end when stretching, in 1/65536
} p;

layout(set = 0, binding = 0) readonly buffer Sums { uint sums[]; };
layout(set = 0, binding = 1) writeonly buffer Table { uint table[]; };

#include "lib/histogram.glsl"

#if defined(SCAN)
#include "lib/tone_scan.glsl"
#else
uint count(uint colour, uint bin) { return sums[p.each * colour * BINS + bin]; }

uint total(uint colour) {
	uint n = 0;
	for (uint i = 0; i < BINS; i++) n += count(colour, i);
	return n;
}

// ends are the lowest and the highest level that remain when the part at either end is clipped.
uvec2 ends(uint colour) {
	uint n = total(colour), most = (n >> 16) * p.clip + (((n & 0xffffu) * p.clip) >> 16);
	uvec2 end = uvec2(0, BINS - 1);
	uint below = 0, above = 0;
	bool low = false, high = false;
	for (uint i = 0; i < BINS; i++) {
		below += count(colour, i);
		above += count(colour, BINS - 1 - i);
		if (!low && below > most) {
			low = true;
			end.x = i;
		}
		if (!high && above > most) {
			high = true;
			end.y = BINS - 1 - i;
		}
	}
	return end.x < end.y ? end : uvec2(0, BINS - 1);
}

// ranks are the number of pixels of the lowest level that occurs, of those up to a level, and of all.
uvec3 ranks(uint colour, uint level) {
	uint first = 0, upTo = 0, n = 0;
	for (uint i = 0; i < BINS; i++) {
		n += count(colour, i);
		if (first == 0) first = n;
		if (i == level) upTo = n;
	}
	return uvec3(first, max(upTo, first), n);
}
#endif

#if defined(U8)
// timesSmall is a·b for b below 2¹⁶ in base 2¹⁶: the upper digits, and the lowest one.
uvec2 timesSmall(uint a, uint b) {
	uint low = (a & 0xffffu) * b, high = (a >> 16) * b + (low >> 16);
	return uvec2(high, low & 0xffffu);
}

uint newLevel(uint colour, uint level) {
	if (p.equalize == 0) {
		uvec2 end = ends(colour);
		uint range = end.y - end.x;
		return ((clamp(level, end.x, end.y) - end.x) * 510 + range) / (2 * range);
	}
	uvec3 rank = ranks(colour, level);
	uint up = rank.y - rank.x, range = rank.z - rank.x;
	if (range == 0) return level;
	// The nearest to 255·up/range: the largest k with (2k − 1)·range ≤ 510·up.
	uvec2 most = timesSmall(up, 510);
	uint found = 0;
	for (uint bit = 128; bit > 0; bit >>= 1) {
		uvec2 v = timesSmall(range, 2 * (found + bit) - 1);
		if (v.x < most.x || v.x == most.x && v.y <= most.y) found += bit;
	}
	return found;
}
#endif

void main() {
	uint id = gl_LocalInvocationID.x;
#if defined(SCAN)
	scan();
#endif
#if defined(U8)
	for (uint level = id; level < BINS; level += 64) {
		uint r = newLevel(0, level), g = r, b = r;
		if (p.each != 0) {
			g = newLevel(1, level);
			b = newLevel(2, level);
		}
		table[level] = r | (g << 8) | (b << 16);
	}
	// A stage of image/pointwise_list that applies the table.
	if (id < 16) table[BINS + id] = id == 0 ? 3 : 0;
#else
	if (p.equalize == 0) {
		if (id < 3) {
			uvec2 end = ends(id);
			float scale = float(BINS - 1) / float(end.y - end.x);
			table[2 * id] = floatBitsToUint(float(end.x) / float(BINS - 1));
			table[2 * id + 1] = floatBitsToUint(scale);
		}
		return;
	}
	for (uint level = id; level < BINS; level += 64) {
		for (uint colour = 0; colour < 3; colour++) {
			uvec3 rank = ranks(colour, level);
			uint range = rank.z - rank.x;
			float v = range == 0 ? float(level) / float(BINS - 1) : float(rank.y - rank.x) / float(range);
			table[colour * BINS + level] = floatBitsToUint(v);
		}
	}
#endif
}
