// Philox 4×32-10, a generator whose numbers depend on a key and a counter only (Salmon, Moraes, Dror and
// Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011). All is done in whole numbers, so every device
// gives the same bits.
//
// The lower half of the counter is the number of a block of four words, the upper half that of a stream.

#include "lib/philox_rounds.glsl"

layout(push_constant) uniform Params {
	uint count;    // elements
	uint keyLow;
	uint keyHigh;
	uint blockLow; // the block of the first element
	uint blockHigh;
	uint streamLow;
	uint streamHigh;
	float scale;   // what the numbers are multiplied by
	float offset;  // and what is added then
	uint zero;     // always 0, which compilers do not know
} p;

// block is block number i of the launch.
uvec4 block(uint i) {
	uint low = p.blockLow + i;
	return philox(uvec4(low, p.blockHigh + (low < i ? 1u : 0u), p.streamLow, p.streamHigh), p.keyLow, p.keyHigh);
}

// unit is the number in 0..1, without 1, of the upper 24 bits of a word. It is exact.
float unit(uint word) { return float(int(word >> 8)) * (1.0 / 16777216.0); }

// product and sum are rounded by themselves. No compiler can join them with what is before or behind, as those
// for WebGPU do, which has no `precise`.
vec4 product(vec4 a, vec4 b) { return uintBitsToFloat(floatBitsToUint(a * b) ^ p.zero); }
float product(float a, float b) { return uintBitsToFloat(floatBitsToUint(a * b) ^ p.zero); }
float sum(float a, float b) { return uintBitsToFloat(floatBitsToUint(a + b) ^ p.zero); }

// placed is v·scale + offset.
vec4 placed(vec4 v) { return product(v, vec4(p.scale)) + p.offset; }
