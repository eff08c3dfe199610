// A step of a simple recurrent layer.
#version 450
#extension GL_GOOGLE_include_directive : require

#define ALL 1
#define GATES 1
#define GATE 0
#define SIMPLE
#include "lib/recurrent.glsl"

void main() {
	PLACE
	V s[GATES];
	s[0] = INPUT_OF(0);
	addProducts(s, p.previous + row * p.padded, unit);
	V h = AT(state, p.previous + in_);
	AT(state, p.next + in_) = within(mix(h, activation0(s[0]), ALL_OF(isOn(row))), own);
}
