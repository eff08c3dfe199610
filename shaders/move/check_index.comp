// Looks for indices that are out of range: the index plus shift is not below limit. Of each
// `every` indices it looks at number `phase`. In the first stage each invocation writes a
// word of a scratch buffer: the first such position that it has found, counted from the top.
// VALUE reduces these words to status word 0, and adds the index at that position, its low
// word and its high word.
//
//lathe:dtypes i32 i64
//lathe:variant *
//lathe:variant *.texel TEXEL
//lathe:variant *.value VALUE

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // indices
	uint first; // position of the first one
	uint limit, shift;
	uint words; // of the scratch buffer
	uint every, phase;
} p;

INPUT(0, indices);

#if defined(VALUE)
layout(set = 0, binding = 1) readonly buffer WorstBuffer { uint worst[]; };
layout(set = 0, binding = 2) buffer FaultBuffer { uint faults[4]; };
shared uint parts[WG];
#else
layout(set = 0, binding = 1) writeonly buffer WorstBuffer { uint worst[]; };
#endif

#if defined(I64)
uvec2 bits(REAL x) { return x; }
#else
uvec2 bits(REAL x) { return uvec2(uint(x), x < 0 ? 0xffffffffu : 0u); }
#endif

void main() {
	uint me = gl_WorkGroupID.x * WG + gl_LocalInvocationID.x, found = 0u;
#if defined(VALUE)
	for (uint i = me; i < p.words; i += WG) found = max(found, worst[i]);
	parts[me] = found;
	barrier();
	if (me != 0u) return;
	for (uint i = 0u; i < WG; i++) found = max(found, parts[i]);
	if (found <= faults[0]) return;
	uint at = 0xffffffffu - found - p.first;
	REAL v[PACK] = unpack(FETCH(indices, at / PACK));
	uvec2 b = uvec2(0u);
	[[unroll]] for (uint k = 0; k < PACK; k++) if (at % PACK == k) b = bits(v[k]);
	faults[0] = found;
	faults[1] = b.x;
	faults[2] = b.y;
#else
	if (me >= p.words) return;
	for (uint i = me * PACK; i < p.count; i += p.words * PACK) {
		REAL v[PACK] = unpack(FETCH(indices, i / PACK));
		[[unroll]] for (uint k = 0; k < PACK; k++) {
			uvec2 b = bits(v[k]);
			uint low = b.x + p.shift, high = b.y + mix(0u, 1u, low < p.shift);
			bool own = (p.first + i + k) % p.every == p.phase, some = i + k < p.count;
			if (own && some && (high != 0u || low >= p.limit)) found = max(found, 0xffffffffu - p.first - i - k);
		}
	}
	worst[me] = found;
#endif
}
