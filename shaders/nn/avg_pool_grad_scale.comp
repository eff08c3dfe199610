// The gradient of each mean, divided by the number of coordinates that count in its window, in
// the type of the accumulators.
#version 450
#extension GL_GOOGLE_include_directive : require
#define IDENTITY REAL(0)
#define NO_INDEX 0u
#define WIDE_OUT
#include "lib/pool.glsl"

void pool(Window w, inout Accumulator a) {
	a.a = ELEMENT(src, uint(p.inBase) + w.e);
	uvec3 c = uvec3(0u);
	[[unroll]] for (uint j = 0; j < 3; j++) {
		uvec2 t = taps(w.y[j], p.d[j], p.k[j], p.low[j], p.high[j]);
		c[j] = max(t.y, t.x) - t.x;
	}
	a.index = c.x * c.y * c.z;
}

REAL result(Accumulator a) { return a.a / REAL(max(a.index, 1u)); }
void also(uint e, Accumulator a) {}
