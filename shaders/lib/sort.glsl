// A step of a radix sort. Pairs of a key and a position are sorted by four bits of the key,
// and keep their order where these bits are equal. An invocation has a chunk of neighbouring
// pairs, and counters in shared memory that no other invocation uses.
//
// The table has the counts of all chunks: of the first digit, then of the second one, and so
// on. Its running sums say where each chunk puts its pairs.

#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count;         // pairs that are here
	uint base;          // where the first one is
	uint chunk;         // pairs of an invocation
	uint first;         // the number of the first chunk
	uint chunks;        // of all pairs
	uint shift;         // of the digit
	uint words;         // from a key to the next. 1: there are no positions yet
	uint from;          // the number of the first pair
	uint to, have, at; // the first pair of the result that is here, how many are, where it is
} p;

shared uint counters[16 * 64];

uint digitOf(uint key) { return (key >> p.shift) & 15u; }
