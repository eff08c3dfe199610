// Levels of bytes on devices whose invocations are lanes of a vector of the processor. A
// conversion of floats to integers takes such a vector ten instructions.

// level rounds a number down. It must be between -2^22 and 2^22: then the sum is rounded to an
// integer, which is in its lower bits.
int level(float v) { return floatBitsToInt(floor(v) + 8388608.0) - 0x4b000000; }

// packLevels makes a pixel without alpha of its levels. The device cpu knows this expression
// and makes few instructions of it.
uint packLevels(int r, int g, int b) {
	return uint(clamp(r, 0, 255)) | uint(clamp(g, 0, 255)) << 8 | uint(clamp(b, 0, 255)) << 16;
}
