// Numbers as bytes: the quotient of a number and its scale, rounded half to even, plus the zero point. An
// invocation makes one word of the output. WIDE: the numbers are integers of 32 bits.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *
//lathe:variant *.one ONE
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
} p;

#include "lib/scaled.glsl"
#include "lib/quotient.glsl"

#if defined(WIDE)
#define QUOTIENT(e, scale) roundedQuotient(int(x[e]), scale)
#else
#define QUOTIENT(e, scale) roundedQuotient(floatOf(x, e), scale)
#endif

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 1) readonly buffer Scales { uint scales[]; };
layout(set = 0, binding = 2) readonly buffer Zeros { uint zeros[]; };
layout(set = 0, binding = 3) buffer Dst { uint dst[]; };

void main() {
	uint i = p.outBase / 4u + flatGroup() * WG + gl_LocalInvocationID.x, end = p.outBase + p.count;
	if (i * 4u >= end) return;
	uint made = 0u, mask = 0u;
	[[unroll]] for (uint k = 0; k < 4u; k++) {
		uint at = i * 4u + k;
		bool in_ = at >= p.outBase && at < end;
		uint e = mix(0u, at - p.outBase, in_), s = scaleOf(e);
		int zero = byteOf(zeros, p.zeroBase + s);
		int v = QUOTIENT(p.xBase + e, floatOf(scales, p.scaleBase + s)) + mix(0, zero, p.zero != 0u);
		made |= (uint(clamp(v, -p.sign, 255 - p.sign)) & 0xffu) << (8u * k);
		mask |= mix(0u, 0xffu, in_) << (8u * k);
	}
	if (mask == 0xffffffffu) dst[i] = made;
	else dst[i] = (dst[i] & ~mask) | (made & mask);
}
