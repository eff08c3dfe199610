// Packs the input of a convolution for nn/conv_panel and nn/conv_lanes, in f32: first the
// images, then the groups, the positions and the channels. Four channels are a texel, and the last
// texel is filled with zeros. Positions outside of the input are zeros too. So the kernels
// find each tap at a fixed distance, without a test. Divisions are slow on CPU drivers, so an
// invocation makes several texels of a position, and only APART variants divide positions.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *
//lathe:variant *.apart APART
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define WG 64
#define RUN 8 // texels of an invocation
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // invocations
	uint c;     // channels
	uint wide;  // texels of a position
	uint runs;  // invocations of a position
	uint e0;    // positions along each axis
	uint e1;
	uint e2;
	uint g; // groups
	uint i0; // size of the input
	uint i1;
	uint i2;
	int s0; // steps of the positions
	int s1;
	int s2;
	int l0; // distance between elements of the input
	int l1;
	int l2;
	int p0; // first position
	int p1;
	int p2;
	uint inBase;
	uint inB;
	uint inG;
	uint inC;
} p;

layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Packed { vec4 y[]; };

#if BITS == 32
#define ELEMENT(name, e) uintBitsToFloat(name[e])
#else
#define ELEMENT(name, e) WIDEN(uvec4((name[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif

void main() {
	// Neighbours read neighbours of the input, and write texels that lie apart.
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint line = i / p.e2, row = line / p.runs, plane = row / p.e1, image = plane / p.e0, b = image / p.g;
	uint column = i - line * p.e2, part = (line - row * p.runs) * RUN;
	ivec3 at = ivec3(plane - image * p.e0, row - plane * p.e1, column) * ivec3(p.s0, p.s1, p.s2) + ivec3(p.p0, p.p1, p.p2);
#if defined(APART)
	ivec3 apart = ivec3(p.l0, p.l1, p.l2), position = at;
	at = position / apart;
	bool whole = all(equal(at * apart, position));
	bool inside = all(lessThan(uvec3(at), uvec3(p.i0, p.i1, p.i2)));
	inside = inside && whole;
#else
	bool inside = all(lessThan(uvec3(at), uvec3(p.i0, p.i1, p.i2)));
#endif
	uint from = p.inBase + b * p.inB + (image - b * p.g) * p.inG + (uint(at.x) * p.i1 + uint(at.y)) * p.i2 + uint(at.z) + part * 4 * p.inC;
	uint to = (row * p.e2 + column) * p.wide, end = min(part + RUN, p.wide), step_ = mix(0u, p.inC, inside);
	from = mix(0u, from, inside);
	for (; part < end; part++) {
		vec4 made;
		[[unroll]] for (uint k = 0; k < 4; k++) {
			uint channel = part * 4 + k;
			bool there = channel < p.c;
			made[k] = mix(0.0, ELEMENT(x, from), inside && there);
			// The last channel is read again in place of those past it.
			from += mix(0u, step_, channel + 1 < p.c);
		}
		y[to + part] = made;
	}
}
