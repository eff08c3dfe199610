// A step of a radix sort of rows of keys. Pairs of a key and a position in the row are sorted by
// four bits of the key, and keep their order where these bits are equal. An invocation has a chunk
// of neighbouring pairs of a row, and counters in shared memory that no other invocation uses.
//
// The table has the counts of all chunks of a row: of the first digit, then of the second one, and
// so on. Then come those of the next row. Its running sums say where each chunk puts its pairs,
// because the rows before it are as long before the step as after it.
//
//lathe:variant u32 KEY=1
//lathe:variant u64 KEY=2

#extension GL_EXT_control_flow_attributes : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count;         // chunks that are here
	uint base;          // where the first pair is
	uint chunk, row;    // pairs of a chunk, and of a row
	uint first;         // the number of the first chunk
	uint chunks;        // of a row
	uint shift;         // of the digit
	uint words;         // from a key to the next. KEY: there are no positions yet
	uint from;          // the number of the first pair
	uint to, have, at;  // the first pair of the result that is here, how many are, where it is
} p;

shared uint counters[16 * 64];

// wordOf is which word of a key, the low one first, has the digit.
uint wordOf() { return p.shift >> 5; }
uint digitOf(uint word) { return (word >> (p.shift & 31u)) & 15u; }
