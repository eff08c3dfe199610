// The counts of the invocations of image/histogram_shared. Include after histogram.glsl.

const uint WORDS = BINS / 4; // of an invocation

uint lane;
shared uint own[SHARED];

// sums are the counts of all invocations in the words lane, lane + LANES, and so on.
uvec4 sums[WORDS / LANES];

void clearSums() {
	[[unroll]] for (uint j = 0; j < WORDS / LANES; j++) sums[j] = uvec4(0);
}

void clearCounts() {
	for (uint i = 0; i < WORDS; i++) own[i * LANES + lane] = 0;
}

// addCounts adds the bytes of all invocations, which are below 256, so that two sums fit a word.
// Neighbouring invocations begin with different ones.
void addCounts() {
	[[unroll]] for (uint j = 0; j < WORDS / LANES; j++) {
		uint from = (lane + j * LANES) * LANES, even = 0, odd = 0;
		for (uint i = 0; i < LANES; i++) {
			uint v = own[from + ((i + lane) & (LANES - 1))];
			even += v & 0xff00ffu;
			odd += (v >> 8) & 0xff00ffu;
		}
		sums[j] += uvec4(even & 0xffffu, odd & 0xffffu, even >> 16, odd >> 16);
	}
}

void add(uint level, uint one) { own[(level >> 2) * LANES + lane] += one << ((level & 3u) * 8u); }

#if defined(U8)
#define PIXEL uint
PIXEL load(uint i) { return src[i]; }
#else
#define PIXEL vec4
// load has the colours that there are, repeated, and an alpha that is not 0 where there is none.
PIXEL load(uint i) {
	uint at = i * p.channels, last = p.channels - 1;
	float alpha = src[at + min(3, last)];
	return vec4(src[at], src[at + min(1, last)], src[at + min(2, last)], mix(1.0, alpha, last == 3));
}
#endif

// note counts a pixel, or nothing if it does not count. colour is one of three, for COUNT_EACH.
void note(PIXEL v, uint colour, bool counts) {
#if defined(U8)
	uint one = mix(0u, min(v >> 24, 1u), counts);
#if defined(COUNT_LUMA)
	add(lumaLevel(v), one);
#elif defined(COUNT_EACH)
	add((v >> (8u * colour)) & 0xffu, one);
#else
	add(v & 0xffu, one);
	add((v >> 8) & 0xffu, one);
	add((v >> 16) & 0xffu, one);
#endif
#else
	uint one = uint(all(bvec2(counts, v.a > 0.0)));
#if defined(COUNT_LUMA)
	precise float luma = (v.r * 0.299 + v.g * 0.587) + v.b * 0.114;
	add(binOf(mix(luma, v.r, p.channels == 1)), one);
#elif defined(COUNT_EACH)
	add(binOf(mix(mix(v.r, v.g, colour == 1), v.b, colour == 2)), one);
#else
	add(binOf(v.r), one);
	add(binOf(v.g), one);
	add(binOf(v.b), one);
#endif
#endif
}
