// Integers as numbers: the distance to the zero point, times the scale. An invocation makes one pack of
// the output. WIDE: the integers have 32 bits.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *.u8 BYTE
//lathe:variant *.u8.one BYTE ONE
//lathe:variant *.i32 WIDE
//lathe:variant *.i32.one WIDE ONE
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // elements
	uint n, inner;
	uint block, phase; // indices of the axis for a scale; that many of the first one come before
	uint scaleOuter, scaleRow, scaleInner;
	uint xBase, scaleBase, zeroBase, outBase; // elements
	int sign; // 128 if bytes have a sign, else 0
	uint zero; // 1: there are zero points
	uint unit; // 1: the scales are 1
} p;

#include "lib/scaled.glsl"
#include "lib/edge.glsl"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) readonly buffer Scales { uint scales[]; };
layout(set = 0, binding = 2) readonly buffer Zeros { uint zeros[]; };
EDGED(3, dst);

#if defined(WIDE)
#define INTEGER(words, e) int(words[e])
#else
#define INTEGER(words, e) byteOf(words, e)
#endif

void main() {
	uint i = p.outBase / PACK + flatGroup() * WG + gl_LocalInvocationID.x, end = p.outBase + p.count;
	if (i * PACK >= end) return;
	REAL v[PACK];
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		uint at = i * PACK + k;
		bool in_ = at >= p.outBase && at < end;
		uint e = mix(0u, at - p.outBase, in_), s = scaleOf(e);
		int zero = INTEGER(zeros, p.zeroBase + s);
		float scale = mix(floatOf(scales, p.scaleBase + s), 1.0, p.unit != 0u);
		v[k] = float(INTEGER(x, p.xBase + e) - mix(0, zero, p.zero != 0u)) * scale;
	}
	STORE_EDGED(dst, i, repack(v), p.outBase, end)
}
