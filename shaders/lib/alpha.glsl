// The image that a second pass takes the alpha from, at binding IMAGE. Include after
// pixels.glsl.

#ifndef IMAGE
#define IMAGE 3
#endif

#if defined(U8) && defined(TEXEL)
layout(set = 0, binding = IMAGE) uniform usamplerBuffer image;
#elif defined(U8)
layout(set = 0, binding = IMAGE) readonly buffer Image { uint image[]; };
#elif defined(TEXEL)
layout(set = 0, binding = IMAGE) uniform samplerBuffer image;
#else
layout(set = 0, binding = IMAGE) readonly buffer Image { float image[]; };
#endif

void loadAlpha(uint i, inout Pixel c[PACK]) {
#if defined(U8) && defined(TEXEL)
	uvec4 t = texelFetch(image, int(i)) & 0xff000000u;
	[[unroll]] for (uint k = 0; k < PACK; k++) c[k].alpha = t[k];
#elif defined(U8)
	c[0].alpha = image[i] & 0xff000000u;
#elif defined(TEXEL)
	c[0].alpha = texelFetch(image, int(i)).a;
#else
	if (p.channels == 4) c[0].alpha = image[4 * i + 3];
#endif
}
