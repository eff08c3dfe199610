// Neighbourhoods of any size, clamped at the edges of the image, for kernels that make ROWS rows
// of a pixel. Include after pixels.glsl, in a kernel with lib/stencil_params.glsl and
// `radius`, the number of rows around a row that the bound window has. With FLAGS there are two
// kernels: the one with ALPHA comes after the other and makes what that has met that is not opaque.
//
//lathe:dtypes u8 f32
//lathe:variant * ROWS=4
//lathe:variant *.alpha ALPHA ROWS=4

#if !defined(FLAGS)
#elif defined(ALPHA)
layout(set = 0, binding = 2) readonly buffer Flags { uint flags[4]; };
#else
layout(set = 0, binding = 2) writeonly buffer Flags { uint flags[4]; };
#endif

// rowAt is where a row of the image begins. The bound window may end at the last row that is
// needed.
uint rowAt(int y) {
	int last = int(min(p.height - 1, p.row + p.rows - 1 + p.radius));
	return p.srcBase + uint(clamp(y, 0, last)) * p.srcPitch;
}

uint columnAt(int x) { return uint(clamp(x, 0, int(p.width) - 1)); }

Pixel pixelAt(int x, int y) { return pixelOf(fetchPack(rowAt(y) + columnAt(x)), 0); }

void storePixel(uint x, uint y, Pixel v) {
	Pixel c[1];
	c[0] = v;
	storePack(p.dstBase + y * p.dstPitch + x, c);
}

#if defined(ALPHA)
// EACH_TILE calls tile(x, first, end) for each tile of ROWS rows of a pixel. A few groups make all
// tiles, so the launch costs almost nothing if there are no tiles to make.
#define EACH_TILE(tile) { \
	uint tiles_ = flags[0] * p.tiles, across_ = p.across, columns_ = p.columns; \
	for (uint i_ = gl_WorkGroupID.x; i_ < tiles_; i_ += p.stride) { \
		uint here_ = i_ % across_ * 64 + gl_LocalInvocationID.x; \
		tile(p.column + min(here_, columns_ - 1), i_ / across_ * ROWS, mix(0u, p.rows, here_ < columns_)); \
	} \
}
#else
#define EACH_TILE(tile) { \
	if (gl_GlobalInvocationID.x < p.columns) tile(p.column + gl_GlobalInvocationID.x, gl_WorkGroupID.y * ROWS, p.rows); \
}
#endif

#if defined(FLAGS)
// see sets the flag if a pixel is not opaque.
void see(Pixel v) {
#if !defined(ALPHA)
	if (v.alpha != OPAQUE) flags[0] = 1u;
#endif
}
#endif
