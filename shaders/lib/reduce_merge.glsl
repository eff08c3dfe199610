// The merge variants of lib/reduce.glsl: an invocation merges the accumulators of a group.

layout(set = 0, binding = 0) readonly buffer States { uint states[]; };
layout(set = 0, binding = 1) buffer Made { uint made[]; };

void main() {
#if defined(LANES)
	// Only the number of the workgroup is divided.
	uint group = flatGroup(), unit = group / p.lanes, column = (group - unit * p.lanes) * WG + gl_LocalInvocationID.x;
	uint c = unit % p.chunks, o = unit / p.chunks, i = unit * p.inner + column;
	if (o >= p.outer || column >= p.inner) return;
#else
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	uint column = i % p.inner, c = i / p.inner % p.chunks, o = i / p.inner / p.chunks;
	if (o >= p.outer) return;
#endif
	uint from = c * p.chunk, to = min(from + p.chunk, p.n);
	uint at = p.base + ((o * p.n + from) * p.inner + column) * ACCUMULATOR_WORDS;
	Accumulator s = identity();
	for (uint k = from; k < to; k++, at += p.inner * ACCUMULATOR_WORDS) {
		Accumulator t;
		GET_ACCUMULATOR(t, states, at);
		s = merge(s, t);
	}
	s = finish(s);
	PUT_ACCUMULATOR(made, p.outBase + i * ACCUMULATOR_WORDS, s);
}
