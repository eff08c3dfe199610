// Curves of floats, for image/pointwise_list. Include after lib/stage.glsl.

#include "lib/powers.glsl"

// powerStage is the curve of a stage at a word: picture.Power, its Black in two parts.
vec3 powerStage(uint at, vec3 c) {
	precise vec3 above = (c - number(at)) - number(at + 1);
	vec3 x = clamp(above * number(at + 2), 0.0, 1.0);
	vec3 low = x * number(at + 4) + number(at + 5);
	vec3 high = powers(clamp(x * number(at + 6) + number(at + 7), 0.0, 1.0), number(at + 8)) * number(at + 9) + number(at + 10);
	vec3 y = mix(high, low, lessThan(x, vec3(number(at + 3))));
	float steps = number(at + 11);
	vec3 rounded = floor(y * steps + 0.5) / max(steps, 1.0);
	return mix(y, rounded, bvec3(steps > 0.0));
}

// splineStage is the curve of `count` segments of five words each.
vec3 splineStage(uint at, uint count, float end, vec3 c) {
	vec3 v = clamp(c, number(at), end), t = vec3(0.0), y = vec3(0.0);
	for (uint i = 0; i < count; i++) {
		float from = number(at);
		vec3 d = v - from;
		vec3 here = ((number(at + 4) * d + number(at + 3)) * d + number(at + 2)) * d + number(at + 1);
		y = mix(y, here, greaterThanEqual(v, vec3(from)));
		at += 5;
	}
	return y;
}
