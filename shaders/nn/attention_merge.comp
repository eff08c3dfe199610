// Adds the blocks of a tile of attention to the result of the tiles before, relative to their
// common maximum. The last tile divides by the sum of the exponentials. A row whose keys are
// all masked is zeros. An invocation makes four elements of a row.
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/math.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows;
	uint wide;  // quads of a row
	uint part;  // quads of a block's product
	uint parts; // blocks
	uint first; // 1: there is nothing from before
	uint last;  // 1: divide
	uint before; // where the maxima and sums from before are, and where the new ones go
	uint after;
} p;

#if defined(F64)
#define QUAD dvec4
#else
#define QUAD vec4
#endif
// The running result, then those of the blocks.
layout(set = 0, binding = 0) buffer Products { QUAD products[]; };
// Maximum and sum of each row of each block, then the running ones.
layout(set = 0, binding = 1) buffer Stats { REAL stats[]; };

void main() {
	uint id = flatGroup() * WG + gl_LocalInvocationID.x;
	uint row = id / p.wide, col = id - row * p.wide;
	if (row >= p.rows) return;
	REAL most = -infinity();
	if (p.first == 0) most = stats[p.before + 2 * row];
	for (uint b = 0; b < p.parts; b++) {
		REAL m = stats[2 * (b * p.rows + row)];
		most = m > most ? m : most;
	}
	REAL from = most == -infinity() ? REAL(0) : most, sum = REAL(0);
	QUAD v = QUAD(0.0);
	if (p.first == 0) {
		REAL w = expReal(stats[p.before + 2 * row] - from);
		v = products[id] * w;
		sum = stats[p.before + 2 * row + 1] * w;
	}
	for (uint b = 0; b < p.parts; b++) {
		uint at = 2 * (b * p.rows + row);
		REAL w = expReal(stats[at] - from);
		v += products[(b + 1) * p.part + id] * w;
		sum += stats[at + 1] * w;
	}
	if (col == 0) {
		stats[p.after + 2 * row] = most;
		stats[p.after + 2 * row + 1] = sum;
	}
	if (p.last != 0) v = sum == REAL(0) ? QUAD(0.0) : v / sum;
	products[id] = v;
}
