// Three by three neighbourhoods, clamped at the edges of the image. Include
// after pixels.glsl, in a kernel whose parameters have width, height, row, rows,
// srcBase and srcPitch; srcBase is the pack of row 0, modulo 2³² where the bound window
// begins further down. Filters that weigh by alpha include lib/stencil_alpha.glsl instead.
//
//lathe:dtypes u8 f32
//lathe:variant * ROWS=4
//lathe:variant *.texel TEXEL ROWS=4

// Where alpha weighs, [0] becomes 1 if the image is not opaque.
#if defined(ALPHA)
layout(set = 0, binding = 2) readonly buffer Flags { uint flags[4]; };
#else
layout(set = 0, binding = 2) writeonly buffer Flags { uint flags[4]; };
#endif

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

// lumaOfCell is luma(pixelOfCell(v).rgb). The levels keep their place in the word, and the
// weights make up for it.
float lumaOfCell(CELL v) {
#if defined(U8) && !defined(TEXEL)
	return dot(placed(v), BT601 / PLACE);
#else
	return luma(pixelOfCell(v).rgb);
#endif
}

// either is b if so, else a. It is not a branch, because loops must have few branches.
CELL either(CELL a, CELL b, bool so) {
#if defined(U8)
	return mix(a, b, so);
#else
	return mix(a, b, bvec4(so));
#endif
}

// see leaves all at CELL(OPAQUE) as long as what it sees is opaque.
void see(CELL v, inout CELL all) {
#if defined(U8)
	all &= v;
#else
	all = either(CELL(0.0), all, v.a == OPAQUE);
#endif
}

// loadRow loads pack x of a row with one pixel more on either side.
void loadRow(int y, uint x, out CELL c[PACK + 2]) {
	int last = int(min(p.height - 1, p.row + p.rows)); // the bound window may end there
	uint row = p.srcBase + uint(clamp(y, 0, last)) * p.srcPitch;
	RAW l = fetchPack(row + uint(max(int(x) - 1, 0)));
	RAW m = fetchPack(row + x);
	RAW r = fetchPack(row + min(x + 1, (p.width - 1) / PACK));
	c[0] = either(cellOf(l, PACK - 1), cellOf(m, 0), x == 0);
	[[unroll]] for (uint k = 0; k < PACK; k++) c[k + 1] = cellOf(m, k);
	c[PACK + 1] = cellOf(r, 0);
	[[unroll]] for (uint k = 1; k < PACK + 2; k++) {
		c[k] = either(c[k], c[k - 1], x * PACK + k > p.width);
	}
}
