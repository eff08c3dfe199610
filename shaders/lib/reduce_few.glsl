// The rows of lib/reduce.glsl for the devices of lib/reduce_quad.glsl, if rows have so few elements
// that an invocation reduces one alone: a vector then has rows of several invocations, and
// most of it works.

layout(set = 0, binding = OUT_SLOT) writeonly buffer Made { uint made[]; };

void main() {
	uint row = flatGroup() * WG + gl_LocalInvocationID.x, n = p.n;
	if (row >= p.outer) return;
	uint start = p.base + row * n;
	Accumulator s = identity();
	for (uint k = 0; k < n; k += BLOCK) {
		Elem v[BLOCK];
		uint at[BLOCK];
		[[unroll]] for (uint u = 0; u < BLOCK; u++) {
			v[u] = ELEM(start + min(k + u, n - 1));
			at[u] = k + u;
		}
		accumulate(s, v, at, n);
	}
	s = finish(s);
	PUT_ACCUMULATOR(made, p.outBase + row * ACCUMULATOR_WORDS, s);
}
