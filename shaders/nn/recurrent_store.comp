// Writes hidden states of a recurrent layer to a result. A run is a part of the result without gaps,
// of whole rows. A row has the units of one sequence at one step. Steps that a sequence does not have
// are 0. If a length is wrong, nothing is written.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require

#include "lib/dtype.glsl"
#include "lib/accumulator.glsl"
#include "lib/element.glsl"
#include "lib/grid.glsl"

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint base;  // element of the window with which the first run begins
	uint count; // elements of a run
	uint words; // invocations for a run
	uint runs;
	uint inner; // runs that are runInner elements apart; the next ones are runOuter apart
	uint runInner;
	uint runOuter;
	uint rows;   // of a run
	uint hidden; // elements of a row
	uint major;  // rows that follow each other without a change of the slower of sequence and step
	uint byStep; // 1: the slower one is the step
	uint from;   // where the hidden states begin
	uint padded; // elements of a row of state
	uint stride; // elements from step to step of the hidden states
	uint slot;   // that of the first step; the next one is `turn` farther on a ring of `ring`
	uint turn;
	uint ring;
	uint time; // number of the first step
	uint lengths; // where the lengths begin; 0xffffffff: there are none
	uint checked; // 1: a check says whether the lengths are right
} p;

layout(set = 0, binding = 0) readonly buffer States { REAL state[]; };
layout(set = 0, binding = 1) readonly buffer Lengths { int lengths[]; };
layout(set = 0, binding = 2) readonly buffer FaultBuffer { uint faults[4]; };
OUTPUT_WORDS(3, dst);

REAL valueAt(uint run, uint e) {
	uint own = e / p.hidden, unit = e - own * p.hidden, row = run * p.rows + own;
	uint slow = row / p.major, fast = row - slow * p.major;
	uint time = p.byStep != 0u ? slow : fast, sequence = p.byStep != 0u ? fast : slow;
	uint slot = (p.slot + time * p.turn) % p.ring;
	REAL v = state[p.from + slot * p.stride + sequence * p.padded + unit];
	if (p.lengths != 0xffffffffu) v = mix(REAL(0), v, p.time + time < uint(lengths[p.lengths + sequence]));
	return v;
}

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x, run = i / p.words, at = i - run * p.words;
	if (run >= p.runs) return;
	if (p.checked != 0u && faults[0] != 0u) return;
	uint outer = run / p.inner, begin = p.base + outer * p.runOuter + (run - outer * p.inner) * p.runInner;
#if PER == 1
	if (at < p.count) PUT_ELEMENT(dst, begin + at, valueAt(run, at));
#else
	uint w = begin / 2u + at;
	if (w * 2u >= begin + p.count) return;
	uint bits = 0u, mask = 0u;
	[[dont_unroll]] for (uint k = 0; k < 2; k++) {
		uint e = 2u * w + k - begin;
		bool own = e < p.count;
		uint part = mix(0u, 0xffffu << (16u * k), own);
		bits |= (NARROW(vec4(valueAt(run, min(e, p.count - 1u)))).x << (16u * k)) & part;
		mask |= part;
	}
	if (mask != 0xffffffffu) bits |= dst[w] & ~mask;
	dst[w] = bits;
#endif
}
