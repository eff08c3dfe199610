// Packs the input of a convolution as nn/conv_pack does, where neighbouring positions are neighbours in
// memory, and lines of the input begin and end with packs. An invocation reads a pack of a line from
// each of four channels, and writes their texels. It does so for several texels of channels.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant * TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/quads.glsl"
#include "lib/grid.glsl"

#define WG 64
#define RUN 4 // texels of an invocation
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // invocations
	uint c;     // channels
	uint wide;  // texels of a position
	uint runs;  // invocations of a pack
	uint packs; // of a line of positions
	uint e0;    // positions along each axis
	uint e1;
	uint e2;
	uint g; // groups
	uint i0; // size of the input, and packs of its lines
	uint i1;
	uint i2;
	int s0; // steps of the positions
	int s1;
	int p0; // first position
	int p1;
	int p2; // its pack
	uint skip; // elements of that pack before it
	uint inBase; // in packs, as all that follows
	uint inB;
	uint inG;
	uint inC;
} p;

INPUT(0, x);
layout(set = 0, binding = 1) writeonly buffer Packed { vec4 y[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint line = i / p.packs, row = line / p.runs, plane = row / p.e1, image = plane / p.e0, b = image / p.g;
	uint pack = i - line * p.packs, part = (line - row * p.runs) * RUN;
	uvec3 at = uvec3(ivec3(int(plane - image * p.e0) * p.s0 + p.p0, int(row - plane * p.e1) * p.s1 + p.p1, int(pack) + p.p2));
	bool inside = all(lessThan(at, uvec3(p.i0, p.i1, p.i2)));
	uint c = p.c, next = mix(0u, p.inC, inside), wide = p.wide, e2 = p.e2;
	uint from = mix(0u, p.inBase + b * p.inB + (image - b * p.g) * p.inG + (at.x * p.i1 + at.y) * p.i2 + at.z + part * 4 * p.inC, inside);
	uint first = pack * PACK - p.skip, to = (row * e2 + first) * wide, end = min(part + RUN, wide);
	for (; part < end; part++) {
		uvec4 r[4];
		[[unroll]] for (uint k = 0; k < 4; k++) {
			bool there = part * 4 + k < c;
			r[k] = mix(uvec4(0), FETCH(x, from), bvec4(inside && there));
			// The last channel is read again in place of those past it.
			from += mix(0u, next, part * 4 + k + 1 < c);
		}
		[[unroll]] for (uint h = 0; h < QUADS; h++) {
			mat4 t = transpose(mat4(quad(r[0], h), quad(r[1], h), quad(r[2], h), quad(r[3], h)));
			// A position before the first one is a large number.
			[[unroll]] for (uint j = 0; j < 4; j++)
				if (first + 4 * h + j < e2) y[to + (4 * h + j) * wide + part] = t[j];
		}
	}
}
