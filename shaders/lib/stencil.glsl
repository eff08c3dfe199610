// Three by three neighbourhoods, clamped at the edges of the image. Include
// after pixels.glsl, in a kernel whose parameters have width, height, row, rows,
// srcBase and srcPitch; srcBase is the pack of row 0, modulo 2³² where the bound window
// begins further down.

// A pixel as it is stored.
#if defined(U8)
#define CELL uint
#else
#define CELL vec4
#endif

CELL cellOf(RAW v, uint k) {
#if defined(U8) && defined(TEXEL)
	return v[k];
#else
	return v;
#endif
}

Pixel pixelOfCell(CELL v) {
#if defined(U8)
	return unpackPixel(v);
#else
	return Pixel(v.rgb, v.a);
#endif
}

// loadRow loads pack x of a row with one pixel more on either side.
void loadRow(int y, uint x, out CELL c[PACK + 2]) {
	int last = int(min(p.height - 1, p.row + p.rows)); // the bound window may end there
	uint row = p.srcBase + uint(clamp(y, 0, last)) * p.srcPitch;
	RAW l = fetchPack(row + uint(max(int(x) - 1, 0)));
	RAW m = fetchPack(row + x);
	RAW r = fetchPack(row + min(x + 1, (p.width - 1) / PACK));
	c[0] = x == 0 ? cellOf(m, 0) : cellOf(l, PACK - 1);
	[[unroll]] for (uint k = 0; k < PACK; k++) c[k + 1] = cellOf(m, k);
	c[PACK + 1] = cellOf(r, 0);
	[[unroll]] for (uint k = 1; k < PACK + 2; k++) {
		if (x * PACK + k > p.width) c[k] = c[k - 1];
	}
}
