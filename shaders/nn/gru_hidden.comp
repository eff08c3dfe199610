// The second half of a step of a GRU layer whose reset gate comes before the product.
#version 450
#extension GL_GOOGLE_include_directive : require

#define ALL 3
#define GATES 1
#define GATE 2
#include "lib/recurrent.glsl"

void main() {
	PLACE
	V s[GATES];
	s[0] = INPUT_OF(2);
	addProducts(s, p.reset + row * p.padded, unit);
	V h = AT(state, p.previous + in_), z = AT(state, p.cell + in_);
	V after = (V(1) - z) * activation1(s[0]) + z * h;
	AT(state, p.next + in_) = within(mix(h, after, ALL_OF(isOn(row))), own);
}
