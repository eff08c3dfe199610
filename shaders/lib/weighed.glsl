// Pixels whose colours are multiplied by alpha, as filters compute with them, and back. In u8
// they are whole numbers: colours up to 255·255, and alpha up to 255. Include after pixels.glsl.

#include "lib/rounded.glsl"

vec4 weighed(Pixel x) {
#if defined(U8)
	float a = float(int(x.alpha >> 24));
#else
	float a = max(x.alpha, 0.0);
#endif
	return vec4(x.rgb * a, a);
}

// unweighed divides by alpha again. Where alpha is 0, so are the colours. In u8 colours must not
// exceed 255 times alpha.
Pixel unweighed(vec4 v) {
#if defined(U8)
	int alpha = int(v.a), part = max(alpha, 1);
	ivec3 sum = ivec3(v.rgb);
	return Pixel(vec3(ivec3(rounded(sum.r, part), rounded(sum.g, part), rounded(sum.b, part))), uint(alpha) << 24);
#else
	bool some = v.a > 0.0;
	return Pixel(mix(vec3(0.0), v.rgb / mix(1.0, v.a, some), bvec3(some)), mix(0.0, v.a, some));
#endif
}
