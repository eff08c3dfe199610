// Ends the product of the weights with the values where rows see different keys (causal attention), or where there are fewer keys than memory for them. The weight of a
// key that a row does not see is 0, and 0·NaN and 0·∞ are NaN. So elements that are NaN are
// computed again, from the keys that their row sees. An invocation takes one element. If the values do not fit a
// binding, there is a launch for each range of keys, and the first one notes which elements are NaN.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows;   // of all matrices
	uint height; // rows of one of them
	uint cols;
	uint blocks; // of keys, each with a product of its own
	uint block;  // keys of one
	uint keys;
	int seen;    // keys that the first row of a matrix sees
	uint weightBase;
	uint weightMatrix;
	uint weightRow;
	uint valueBase;
	uint valueMatrix;
	uint valueKey;
	uint valueCol;
	uint base; // of the products
	uint matrix;
	uint row;
	uint part; // elements from block to block
	uint rangeFrom; // keys of this launch, of which values begins with the first
	uint rangeTo;
	uint later;  // 1: not the first launch
	uint ranges; // launches
	uint more;   // how many more keys each row sees
	uint lengths; // numbers of keys in noted, in front of all else. If not 0, a row sees seen more keys than there are.
	uint lengthFirst, lengthEach, lengthStep; // the number of the first matrix, matrices of a length, words from one to the next
} p;

#if BITS == 64
#define WORD uvec2
#define VALUE(e) packDouble2x32(values[e])
#elif BITS == 32
#define WORD uint
#define VALUE(e) uintBitsToFloat(values[e])
#else
#define WORD uint
#define VALUE(e) WIDEN(uvec4((values[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif
layout(set = 0, binding = 0) readonly buffer Weights { REAL weights[]; };
layout(set = 0, binding = 1) readonly buffer Values { WORD values[]; };
layout(set = 0, binding = 2) buffer Products { REAL products[]; };
layout(set = 0, binding = 3) buffer Noted { uint noted[]; };

void main() {
	uint id = flatGroup() * WG + gl_LocalInvocationID.x;
	uint row = id / p.cols, col = id - row * p.cols, block = row / p.rows;
	if (block >= p.blocks) return;
	row -= block * p.rows;
	uint matrix = row / p.height, inner = row - matrix * p.height;
	uint at = p.base + block * p.part + matrix * p.matrix + inner * p.row + col;
	bool again = isNaN(products[at]);
	if (p.later != 0) again = noted[p.lengths + id] != 0;
	else if (p.ranges > 1) noted[p.lengths + id] = again ? 1 : 0;
	if (!again) return;
	uint from = max(block * p.block, p.rangeFrom);
	int seen = p.seen + int(inner * p.more);
	if (p.lengths != 0) seen += int(noted[(p.lengthFirst + matrix) / p.lengthEach * p.lengthStep]);
	uint end = min(uint(clamp(seen, 0, int(min(block * p.block + p.block, p.keys)))), p.rangeTo);
	uint value = p.valueBase + matrix * p.valueMatrix + col * p.valueCol, weight = p.weightBase + matrix * p.weightMatrix + inner * p.weightRow;
	REAL sum = REAL(0);
	if (p.later != 0) sum = products[at];
	for (uint k = from; k < end; k++) sum += weights[weight + k] * VALUE(value + (k - p.rangeFrom) * p.valueKey);
	products[at] = sum;
}
