// Looks for indices that are not below a limit. The first such position, from
// the top, is left in fault word 0; VALUE then adds what is there, the low word
// and the high one.
//
//lathe:variant i32 I32
//lathe:variant i32.texel I32 TEXEL
//lathe:variant i32.value I32 VALUE
//lathe:variant i64 I64
//lathe:variant i64.texel I64 TEXEL
//lathe:variant i64.value I64 VALUE

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#if defined(VALUE)
#define WG 1
#elif defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // indices
	uint first; // position of the first one
	uint limit;
} p;

INPUT(0, indices);
layout(set = 0, binding = 1) buffer FaultBuffer { uint faults[4]; };

#if defined(I64)
uvec2 bits(REAL x) { return x; }
#else
uvec2 bits(REAL x) { return uvec2(uint(x), x < 0 ? 0xffffffffu : 0u); }
#endif

void main() {
#if defined(VALUE)
	uint at = 0xffffffffu - faults[0] - p.first;
	if (faults[0] != 0u && at < p.count) {
		REAL v[PACK] = unpack(FETCH(indices, at / PACK));
		uvec2 b = uvec2(0u);
		[[unroll]] for (uint k = 0; k < PACK; k++) if (at % PACK == k) b = bits(v[k]);
		faults[1] = b.x;
		faults[2] = b.y;
	}
#else
	uint i = (flatGroup() * WG + gl_LocalInvocationID.x) * PACK;
	if (i >= p.count) return;
	REAL v[PACK] = unpack(FETCH(indices, i / PACK));
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		uvec2 b = bits(v[k]);
		if (i + k < p.count && (b.y != 0u || b.x >= p.limit)) atomicMax(faults[0], 0xffffffffu - p.first - i - k);
	}
#endif
}
