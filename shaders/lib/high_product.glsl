// highProduct is the upper word of the product of two words: WebGPU has no product of 64 bits.
uint highProduct(uint a, uint b) {
	uint low = (a & 0xffffu) * (b & 0xffffu), high = (a >> 16) * (b >> 16);
	// (2^16 − 1)² + 2^16 − 1 still has its place in a word.
	uint mid = (a >> 16) * (b & 0xffffu) + (low >> 16);
	uint mid2 = (a & 0xffffu) * (b >> 16) + (mid & 0xffffu);
	return high + (mid >> 16) + (mid2 >> 16);
}
