// What the passes of resize share: pixels as they are summed, and sums as pixels. Sums are of
// colours in 0..FULL, in linear light in the .linear variants. In the .alpha variants colours are
// multiplied by alpha, and alpha is summed too. Include after pixels.glsl.
//
// In u8 both kinds give the same bits where all pixels are opaque. So the kernels without alpha
// run first and set a flag if a pixel is not opaque. With it the others make the whole result.
//
//lathe:dtypes u8 f32
//lathe:variant *
//lathe:variant *.alpha ALPHA
//lathe:variant *.linear LINEAR
//lathe:variant *.alpha.linear ALPHA LINEAR

// BLOCK is how many terms are added before they are added to the sum. In one sum of thousands of
// equal terms all roundings would have one sign.
const uint BLOCK = 256;

#if defined(ALPHA)
#define SUM vec4
const uint PARTS = 4;
#else
#define SUM vec3
const uint PARTS = 3;
#endif

// IEC 61966-2-1 (sRGB).
vec3 toLinear(vec3 c) {
	return mix(pow((max(c, vec3(0.04)) + 0.055) / 1.055, vec3(2.4)), c / 12.92, lessThanEqual(c, vec3(0.04045)));
}
vec3 toGamma(vec3 c) {
	return mix(1.055 * pow(max(c, vec3(0.003)), vec3(1.0 / 2.4)) - 0.055, 12.92 * c, lessThanEqual(c, vec3(0.0031308)));
}

#if !defined(SRC_WIDE)
SUM termOf(RAW v, uint k) {
	Pixel c = pixelOf(v, k);
#if defined(LINEAR)
	c.rgb = toLinear(c.rgb / FULL) * FULL;
#endif
#if defined(ALPHA)
	float a = weightOf(c);
	return vec4(c.rgb * a, a * FULL);
#else
	return c.rgb;
#endif
}
#endif

#if !defined(DST_WIDE) && !defined(DST_SUM)
Pixel finished(SUM v) {
#if defined(ALPHA)
	// No colour is left where alpha rounds to nothing, or is no more than the errors of weights.
	// These add up to almost 1, and what is opaque is not divided, as without alpha.
	bool some = BYTES ? v.a >= HALF : v.a > 1e-6, all = abs(v.a - FULL) < FULL / 262144.0;
	vec3 c = mix(vec3(0.0), v.rgb * mix(FULL / mix(1.0, v.a, some), 1.0, all), bvec3(some));
	float alpha = clamp(v.a, 0.0, FULL);
#else
	vec3 c = v;
	float alpha = FULL;
#endif
	c = clamp(c, 0.0, FULL);
#if defined(LINEAR)
	c = toGamma(c / FULL) * FULL;
#endif
#if defined(U8)
	return Pixel(c + HALF, uint(int(alpha + HALF)) << 24);
#else
	return Pixel(c, alpha);
#endif
}
#endif

// SEE notes whether pixels of bytes are opaque, and tell sets the flag.
#if defined(U8) && !defined(SRC_WIDE) && !defined(ALPHA)
layout(set = 0, binding = FLAGS) writeonly buffer Flags { uint flags[4]; };
RAW seen = RAW(OPAQUE);
#define SEE(v) seen &= v;
#define TELL if ((seen & RAW(OPAQUE)) != RAW(OPAQUE)) flags[0] = 1u;
#define IDLE false
#else
#define SEE(v)
#define TELL
#if defined(U8) && defined(ALPHA)
layout(set = 0, binding = FLAGS) readonly buffer Flags { uint flags[4]; };
#define IDLE flags[0] == 0u
#else
#define IDLE false
#endif
#endif
