// A step of an LSTM layer. The gates are input, output, forget and cell.
#version 450
#extension GL_GOOGLE_include_directive : require

#define ALL 4
#define GATES 4
#define GATE 0
#include "lib/recurrent.glsl"

void main() {
	PLACE
	V s[GATES];
	[[unroll]] for (uint g = 0; g < GATES; g++) s[g] = INPUT_OF(g);
	addProducts(s, p.previous + row * p.padded, unit);
	V c = AT(state, p.cell + in_), h = AT(state, p.previous + in_);
	if (p.peepholes != 0u) {
		s[0] += AT(state, 4 * p.padded + own) * c;
		s[2] += AT(state, 6 * p.padded + own) * c;
	}
	V take = activation0(s[0]), keep = V(1) - take;
	if (p.coupled == 0u) keep = activation0(s[2]);
	V made = keep * c + take * activation1(s[3]);
	if (p.peepholes != 0u) s[1] += AT(state, 5 * p.padded + own) * made;
	V after = activation0(s[1]) * activation2(made);
	bool on = isOn(row);
	AT(state, p.cell + in_) = within(mix(c, made, ALL_OF(on)), own);
	AT(state, p.next + in_) = within(mix(h, after, ALL_OF(on)), own);
}
