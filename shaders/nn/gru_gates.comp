// The first half of a step of a GRU layer whose reset gate comes before the product: the update gate,
// and the hidden state times the reset gate.
#version 450
#extension GL_GOOGLE_include_directive : require

#define ALL 3
#define GATES 2
#define GATE 0
#include "lib/recurrent.glsl"

void main() {
	PLACE
	V s[GATES];
	s[0] = INPUT_OF(0);
	s[1] = INPUT_OF(1);
	addProducts(s, p.previous + row * p.padded, unit);
	V h = AT(state, p.previous + in_);
	AT(state, p.cell + in_) = within(activation0(s[0]), own);
	AT(state, p.reset + in_) = within(activation0(s[1]) * h, own);
}
