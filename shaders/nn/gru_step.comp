// A step of a GRU layer whose reset gate comes after the product. The gates are update, reset and
// hidden.
#version 450
#extension GL_GOOGLE_include_directive : require

#define ALL 3
#define GATES 3
#define GATE 0
#include "lib/recurrent.glsl"

void main() {
	PLACE
	V s[GATES];
	s[0] = INPUT_OF(0);
	s[1] = INPUT_OF(1);
	s[2] = AT(state, 3 * p.padded + own);
	addProducts(s, p.previous + row * p.padded, unit);
	V h = AT(state, p.previous + in_);
	V z = activation0(s[0]), r = activation0(s[1]), made = activation1(INPUT_OF(2) + r * s[2]);
	V after = (V(1) - z) * made + z * h;
	AT(state, p.next + in_) = within(mix(h, after, ALL_OF(isOn(row))), own);
}
