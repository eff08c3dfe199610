// How pixels are written, for pixels.glsl.

#if !defined(DST_WIDE) && !defined(DST_SUM)
#if defined(U8) && defined(TEXEL)
// storeTexel writes four pixels. A CPU driver stores lane by lane, and LLVM moves the
// computation of v into that scalar loop, which takes half the time of a kernel. A select
// that LLVM cannot simplify prevents it. This one chooses v wherever memory is written.
void storeTexel(uint i, uvec4 v) {
	dst[i] = mix(v, uvec4(i), equal(uvec4(i), uvec4(0xffffffffu)));
}
#endif

void storePack(uint i, Pixel c[PACK]) {
#if defined(U8) && defined(TEXEL)
	storeTexel(i, uvec4(packPixel(c[0]), packPixel(c[1]), packPixel(c[2]), packPixel(c[3])));
#elif defined(U8)
	dst[i] = packPixel(c[0]);
#elif defined(TEXEL)
	dst[i] = vec4(c[0].rgb, c[0].alpha);
#else
	uint o = i * p.channels;
	dst[o] = c[0].rgb.r;
	if (p.channels > 1) {
		dst[o + 1] = c[0].rgb.g;
		dst[o + 2] = c[0].rgb.b;
	}
	if (p.channels == 4) dst[o + 3] = c[0].alpha;
#endif
}
#endif
