// lib/gemm_finish.glsl for devices whose invocations are the lanes of a vector of the processor. The
// invocations of a workgroup are neighbours along n. A workgroup makes up to COLUMNS elements of one row.
//
//lathe:variant f32 F32
//lathe:variant f64 F64
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/gemm_finish.glsl"

#define WG 4
#define COLUMNS 256
layout(local_size_x = WG) in;

layout(set = 0, binding = 0) readonly buffer Parts { REAL parts[]; };
layout(set = 0, binding = 1) readonly buffer Addend { REAL c[]; };
layout(set = 0, binding = 2) buffer Y { REAL y[]; };

#define EACH_COLUMN for (uint j = first; j < end; j += WG)

void main() {
	uint id = flatGroup(), row = id / p.packs, block = (id - row * p.packs) * COLUMNS;
	uint first = block + gl_LocalInvocationID.x, end = min(block + COLUMNS, p.n);
	if (row >= p.runs) return;
	uvec3 r = locate(row, p.rows, p.inner);
	uint from = placeOfPart(r), to = placeOfY(r), c0 = placeOfC(r);
	REAL alpha = NUMBER(p.alpha), beta = NUMBER(p.beta);
#define SUM(made) REAL made = REAL(0); for (uint s = 0; s < p.parts; s++) made += parts[from + s * p.part + j]; made *= alpha;
	if (p.addend == 0) {
		EACH_COLUMN { SUM(made) y[to + j] = made; }
	} else if (p.cCol == 1) {
		EACH_COLUMN { SUM(made) y[to + j] = made + beta * c[c0 + j]; }
	} else {
		EACH_COLUMN { SUM(made) y[to + j] = made + beta * c[c0 + j * p.cCol]; }
	}
}
