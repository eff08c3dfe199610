// Puts the indices of the elements with a flag one after the other. The sums of the flags, with the
// own one, say where each goes.
//
//lathe:variant u32 WORDS=1
//lathe:variant u64 WORDS=2

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/grid.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count, first, base; // elements that are here; the number of the first one, and where its flag is
	uint divisor, size;      // the index is the number, divided, modulo the size
	uint to, have, at;       // the first index of the result that is here, how many are, where it is
} p;

layout(set = 0, binding = 0) readonly buffer FlagBuffer { uint flags[]; };
layout(set = 0, binding = 1) readonly buffer SumBuffer { uint sums[]; };
layout(set = 0, binding = 2) writeonly buffer IndexBuffer { uint indices[]; };

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint to = sums[p.base + i] - 1u - p.to;
	if (flags[p.base + i] == 0u || to >= p.have) return;
	indices[p.at + to * WORDS] = (p.first + i) / p.divisor % p.size;
#if WORDS == 2
	indices[p.at + to * WORDS + 1u] = 0u;
#endif
}
