// The largest element of each window. NaN is larger than all numbers. Of equal elements the
// first one counts, whose index is written if there is an output for it.
#version 450
#extension GL_GOOGLE_include_directive : require
#define IDENTITY (-infinity())
#define NO_INDEX 0xffffffffu
#include "lib/pool.glsl"

layout(set = 0, binding = 3) writeonly buffer IndexBuffer { uint indices[]; };

void pool(Window w, inout Accumulator a) {
	uvec2 t0 = INSIDE(w, 0), t1 = INSIDE(w, 1), t2 = INSIDE(w, 2);
	for (uint i = t0.x; i < t0.y; i++) {
		uint plane = uint(w.y[0] + int(i * p.d[0])) * uint(p.i[1]);
		for (uint j = t1.x; j < t1.y; j++) {
			uint row = w.at + (plane + uint(w.y[1] + int(j * p.d[1]))) * uint(p.i[2]);
			for (uint k = t2.x; k < t2.y; k++) {
				uint at = row + uint(w.y[2] + int(k * p.d[2])), index = p.indexBase + at;
				REAL x = ELEMENT(src, at);
				bool nan = isNaN(x), was = isNaN(a.a), earlier = index < a.index;
				bool take = mix(x > a.a, earlier, x == a.a);
				take = mix(mix(take, earlier, was), nan, nan != was);
				a.a = mix(a.a, x, take);
				a.index = mix(a.index, index, take);
			}
		}
	}
}

REAL result(Accumulator a) { return a.a; }

void also(uint e, Accumulator a) {
	if (p.indexWords == 0u) return;
	uint at = (p.outBase + e) * p.indexWords;
	indices[at] = a.index;
	if (p.indexWords == 2u) indices[at + 1u] = mix(0u, 0xffffffffu, a.index == NO_INDEX);
}
