// Numbers of keys for the other kernels of attention, each at most as large as there is memory for keys: as elements
// of the statistics, and as words.
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count;
	uint base;  // word of the first number
	uint words; // of each: 1 or 2
	uint most;  // keys that there is memory for
	uint at;    // where the numbers go among the statistics
} p;

layout(set = 0, binding = 0) readonly buffer Lengths { uint lengths[]; };
layout(set = 0, binding = 1) writeonly buffer Stats { REAL stats[]; };
layout(set = 0, binding = 2) writeonly buffer Words { uint words[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint at = p.base + i * p.words, low = lengths[at], high = low >> 31;
	if (p.words == 2u) high = lengths[at + 1u];
	uint n = min(low, p.most);
	if (high != 0u) n = p.words == 2u && int(high) > 0 ? p.most : 0u;
	stats[p.at + i] = REAL(n);
	words[i] = n;
}
