// Rows of a table to which runs of updates are added, as scatter_runs finds them, for CPU drivers. An invocation makes PACKS
// packs of a row, whether it has updates or not: so each row is written once. Updates are added in the order of their
// positions. ZEROS: the table has only zeros before.
//
//lathe:dtypes f32 i32
//lathe:variant *
//lathe:variant *.zeros ZEROS

#version 450
#extension GL_GOOGLE_include_directive : require
#define TEXEL
#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#define PACKS 4
layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint rows, packs;      // rows of the table, and packs of each
	uint updateBase, at;   // where the first update and the first row are, in packs
} p;

layout(set = 0, binding = 0) readonly buffer FaultBuffer { uint faults[4]; };
layout(set = 0, binding = 1) readonly buffer PositionBuffer { uint positions[]; };
layout(set = 0, binding = 2) readonly buffer StartBuffer { uint starts[]; };
INPUT(3, updates);
layout(set = 0, binding = 4) writeonly buffer ResultBuffer { uvec4 result[]; };
#if !defined(ZEROS)
INPUT(5, data);
#endif

void main() {
	uint packs = p.packs, per = (packs + PACKS - 1u) / PACKS;
	uint i = flatGroup() * 64 + gl_LocalInvocationID.x, row = i / per, column = (i - row * per) * PACKS;
	if (row >= p.rows || faults[0] != 0u) return;
	uint e = starts[row], to = p.at + row * packs;
	precise REAL v[PACKS * 4];
	[[unroll]] for (uint u = 0u; u < PACKS; u++) {
#if defined(ZEROS)
		[[unroll]] for (uint k = 0u; k < 4u; k++) v[4u * u + k] = REAL(0);
#else
		REAL r[4] = unpack(FETCH(data, row * packs + min(column + u, packs - 1u)));
		[[unroll]] for (uint k = 0u; k < 4u; k++) v[4u * u + k] = r[k];
#endif
	}
	while (e != 0u) {
		uint position = positions[e - 1u], from = p.updateBase + (position & 0x7fffffffu) * packs;
		[[unroll]] for (uint u = 0u; u < PACKS; u++) {
			REAL r[4] = unpack(FETCH(updates, from + min(column + u, packs - 1u)));
			[[unroll]] for (uint k = 0u; k < 4u; k++) v[4u * u + k] += r[k];
		}
		e = mix(e + 1u, 0u, position >> 31 != 0u);
	}
	[[unroll]] for (uint u = 0u; u < PACKS; u++) {
		if (column + u < packs) result[to + column + u] = repack(REAL[4](v[4u * u], v[4u * u + 1u], v[4u * u + 2u], v[4u * u + 3u]));
	}
}
