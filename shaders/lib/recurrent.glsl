// A step of a recurrent layer. A row is a sequence of the batch. An invocation makes UNITS
// neighbouring hidden units of a row, so it multiplies the hidden state of the row by their weights for GATES
// of the ALL gates. Products of the inputs are in gates. ANY: activations are those of the parameters.
// The variants that read texels, for CPU drivers, make four units and have the usual activations.
//
//lathe:variant f32 F32
//lathe:variant f64 F64
//lathe:variant f32.texel F32 TEXEL
//lathe:variant f32.any F32 ANY
//lathe:variant f64.any F64 ANY

#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#if defined(ANY)
#include "lib/elu.glsl"
#else
#include "lib/math.glsl"
#endif

#if defined(TEXEL)
#define WG 8
#define UNITS 4
#define V vec4
#define AT(name, i) name[(i) >> 2]
#define ABOVE(x, y) greaterThan(x, y)
#define ALL_OF(b) bvec4(b)
#define NANS(x) greaterThan(floatBitsToUint(x) & 0x7fffffffu, uvec4(0x7f800000u))
#else
#define WG 64
#define UNITS 1
#define V REAL
#define AT(name, i) name[i]
#define ABOVE(x, y) ((x) > (y))
#define ALL_OF(b) (b)
#define NANS(x) isNaN(x)
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count;   // invocations
	uint lanes;   // of them for a row
	uint block;   // units whose weights are bound
	uint first;   // the first of them
	uint hidden;  // units of the layer
	uint padded;  // elements of a row of state
	uint products; // elements of a row of state that are multiplied, in whole vectors
	uint previous; // where in state the hidden state before and after the step is
	uint next;
	uint cell;  // where the cell state is, or the update gate
	uint reset; // where the reset state is
	uint gate;  // where in gates the step begins
	uint time;  // number of the step in the sequence
	uint lengths; // where the lengths begin; 0xffffffff: there are none
	uint peepholes; // 1: there are some
	uint coupled;   // 1: the forget gate is 1 less the input gate
	uint kinds;     // activations, 8 bits each
	float clip;
	float alpha0;
	float beta0;
	float alpha1;
	float beta1;
	float alpha2;
	float beta2;
} p;

#if defined(TEXEL)
layout(set = 0, binding = 0) uniform samplerBuffer weights;
#else
layout(set = 0, binding = 0) readonly buffer Weights { V weights[]; };
#endif
layout(set = 0, binding = 1) readonly buffer Gates { V gates[]; };
layout(set = 0, binding = 2) buffer States { V state[]; };
layout(set = 0, binding = 3) readonly buffer Lengths { int lengths[]; };

// addProducts adds the products of the hidden state that begins at element from, and the weights of the
// unit of the block, for the gates from GATE on.
#if defined(TEXEL)
void addProducts(inout V sums[GATES], uint from, uint unit) {
	uint at = (GATE * p.block + unit) >> 2, step_ = p.block >> 2;
	for (uint k = 0; k < p.products; k += 4, at += 4 * ALL * step_) {
		vec4 h = AT(state, from + k);
		[[unroll]] for (uint c = 0; c < 4; c++)
			[[unroll]] for (uint g = 0; g < GATES; g++)
				sums[g] += h[c] * texelFetch(weights, int(at + (c * ALL + g) * step_));
	}
}
#else
void addProducts(inout V sums[GATES], uint from, uint unit) {
	uint at = GATE * p.block + unit;
	for (uint k = 0; k < p.products; k++, at += ALL * p.block) {
		REAL h = state[from + k];
		[[unroll]] for (uint g = 0; g < GATES; g++) sums[g] += h * weights[at + g * p.block];
	}
}
#endif

#include "lib/recurrent_activation.glsl"

// isOn reports whether the sequence of a row has this step. If not, its states stay.
bool isOn(uint row) {
	if (p.lengths == 0xffffffffu) return true;
	return p.time < uint(lengths[p.lengths + row]);
}

// within is x, but 0 in what fills up the row of state.
V within(V x, uint unit) {
#if defined(TEXEL)
	uvec4 u = uvec4(unit) + uvec4(0, 1, 2, 3);
	return mix(x, vec4(0.0), greaterThanEqual(u, uvec4(p.hidden)));
#else
	return mix(x, REAL(0), unit >= p.hidden);
#endif
}

// PLACE sets the row, the unit of the block and the unit of the layer.
#define PLACE \
	uint i = flatGroup() * WG + gl_LocalInvocationID.x; \
	if (i >= p.count) return; \
	uint row = i / p.lanes, unit = (i - row * p.lanes) * UNITS, own = p.first + unit, in_ = row * p.padded + own;

// INPUT_OF is the product of the inputs for a gate, with the bias.
#define INPUT_OF(g) (AT(gates, p.gate + (row * ALL + (g)) * p.padded + own) + AT(state, (g) * p.padded + own))
