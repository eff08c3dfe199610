// Elements that replace those of a table. Of several updates of a row the last one counts.
// Elements of the table are words. Those of the updates have BITS bits.
//
//lathe:variant u8 BITS=8
//lathe:variant u16 BITS=16
//lathe:variant u32 BITS=32

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/scatter.glsl"

layout(set = 0, binding = 2) readonly buffer UpdateBuffer { uint source[]; };
layout(set = 0, binding = 3) writeonly buffer TableBuffer { uint table[]; };

#define PER (32 / BITS)

void main() {
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x, e = i / p.run, column = i - e * p.run;
	if (e >= p.count || faults[0] != 0u) return;
	uint row = pairs[p.pairBase + 2u * e], update = pairs[p.pairBase + 2u * e + 1u] - p.firstUpdate;
	if (row - p.first >= p.rows || update >= p.updates || isHere(e + 1u, row)) return;
	uint from = p.updateBase + update * p.pitch + column;
	table[p.tableBase + (row - p.first) * p.pitch + column] = source[from / PER] >> (from % PER * BITS);
}
