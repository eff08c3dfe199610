// The bins of a histogram: the levels of a byte, and 1024 levels of floats in 0..1.

#if defined(U8)
const uint BINS = 256;

// lumaLevel is the luma of a pixel, rounded to nearest: a sum of at most 255500, divided by 1000.
uint lumaLevel(uint v) {
	uint sum = (v & 0xffu) * 299 + ((v >> 8) & 0xffu) * 587 + ((v >> 16) & 0xffu) * 114 + 500;
	return ((sum >> 3) * 33555) >> 22;
}
#else
const uint BINS = 1024;

uint binOf(float v) {
	precise float level = v * float(BINS - 1) + 0.5;
	return level > 0.0 ? uint(int(min(level, float(BINS - 1)))) : 0u; // 0 for NaN too
}
#endif
