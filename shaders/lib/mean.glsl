// Means of pixels whose weights add up to 1. If alpha weighs, colours are multiplied by it and divided
// by its mean. Include after pixels.glsl.

// NOTHING is an alpha that may be the rounding of a weight. What is not above it has no colour.
const float NOTHING = 1e-6;

// weighed is what to add for a pixel.
vec4 weighed(Pixel v, bool weigh) {
	float a = mix(1.0, clamp(weightOf(v), 0.0, 1.0), weigh);
	return vec4(v.rgb * a, a);
}

// meanOf is the pixel for a sum. own is the pixel in its place, whose alpha stays if none weighs.
Pixel meanOf(vec4 sum, Pixel own, bool weigh) {
	float a = min(sum.a, 1.0);
	bool some = BYTES ? a * 255.0 >= HALF : a > NOTHING;
	vec3 c = mix(vec3(0.0), clamp(sum.rgb / mix(1.0, sum.a, some), 0.0, FULL) + HALF, bvec3(some));
#if defined(U8)
	return Pixel(c, weigh ? uint(int(a * 255.0 + HALF)) << 24 : own.alpha);
#else
	return Pixel(c, mix(own.alpha, a, weigh));
#endif
}
