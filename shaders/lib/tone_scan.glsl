// What image/tone_table asks of its histograms, for GPUs: shared memory holds the numbers of pixels up
// to each level, so that an invocation searches in place of reading all counts.

shared uint upTo[3 * BINS];
shared uint parts[3 * 64];

// scan makes upTo. All invocations must call it.
void scan() {
	const uint OWN = BINS / 64; // levels of an invocation
	uint id = gl_LocalInvocationID.x, colours = mix(1u, 3u, p.each != 0);
	for (uint colour = 0; colour < colours; colour++) {
		uint from = colour * BINS + id * OWN, sum = 0;
		for (uint i = 0; i < OWN; i++) {
			sum += sums[from + i];
			upTo[from + i] = sum;
		}
		parts[colour * 64 + id] = sum;
	}
	barrier();
	for (uint colour = 0; colour < colours; colour++) {
		uint from = colour * BINS + id * OWN, before = 0;
		for (uint k = 0; k < id; k++) before += parts[colour * 64 + k];
		for (uint i = 0; i < OWN; i++) upTo[from + i] += before;
	}
	barrier();
}

// firstAbove is the first level up to which there are more than so many pixels, or the last level.
uint firstAbove(uint first, uint many) {
	uint at = 0;
	for (uint width = BINS / 2; width > 0; width >>= 1) at += mix(0u, width, upTo[first + at + width - 1] <= many);
	return at;
}

// ends are the lowest and the highest level that remain when the part at either end is clipped.
uvec2 ends(uint colour) {
	uint first = p.each * colour * BINS, n = upTo[first + BINS - 1], most = (n >> 16) * p.clip + (((n & 0xffffu) * p.clip) >> 16);
	// With so many pixels from a level on, there are less than n - most before it.
	uvec2 end = uvec2(firstAbove(first, most), firstAbove(first, n - most - 1));
	return n > most && end.x < end.y ? end : uvec2(0, BINS - 1);
}

// ranks are the number of pixels of the lowest level that occurs, of those up to a level, and of all.
uvec3 ranks(uint colour, uint level) {
	uint from = p.each * colour * BINS, lowest = upTo[from + firstAbove(from, 0)];
	return uvec3(lowest, max(upTo[from + level], lowest), upTo[from + BINS - 1]);
}
