// One of three by three values, for each colour on its own: median.comp and extreme.comp. An
// invocation makes ROWS rows of a pack.

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
} p;

#include "lib/pixels.glsl"
#include "lib/stencil_alpha.glsl"

// Colours are compared where they lie in the word.
#if defined(ALPHA)
#include "lib/weighed.glsl"
#define VALUE vec4
VALUE valueOf(CELL v) { return weighed(pixelOfCell(v)); }
#elif defined(U8)
#define VALUE ivec3
VALUE valueOf(CELL v) { return ivec3(v & 0xffu, v & 0xff00u, v & 0xff0000u); }
#else
#define VALUE vec3
VALUE valueOf(CELL v) { return v.rgb; }
#endif
#define LEAST(a, b) min(a, b)
#define MOST(a, b) max(a, b)
#include "lib/chosen.glsl"

#if defined(U8) && !defined(ALPHA)
#define MADE uint
MADE madeOf(VALUE v, CELL own) { return uint(v.r | v.g | v.b) | (own & OPAQUE); }
void storeMade(uint i, MADE v[PACK]) {
#if defined(TEXEL)
	storeTexel(i, uvec4(v[0], v[1], v[2], v[3]));
#else
	dst[i] = v[0];
#endif
}
#else
#define MADE Pixel
MADE madeOf(VALUE v, CELL own) {
#if defined(ALPHA)
	return unweighed(v);
#else
	return Pixel(v, own.a);
#endif
}
void storeMade(uint i, MADE v[PACK]) { storePack(i, v); }
#endif

// tile makes the rows from `first` on, up to `end`, of pack x.
void tile(uint x, uint first, uint end, inout CELL all) {
	CELL v[ROWS + 2][PACK + 2];
	[[unroll]] for (uint r = 0; r < ROWS + 2; r++) loadRow(int(p.row + first + r) - 1, x, v[r]);
	MADE made[ROWS][PACK];
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		OF_ROW row[ROWS + 2];
		[[unroll]] for (uint r = 0; r < ROWS + 2; r++) row[r] = ofRow(valueOf(v[r][k]), valueOf(v[r][k + 1]), valueOf(v[r][k + 2]));
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			see(v[r + 1][k + 1], all);
			made[r][k] = madeOf(chosen(row[r], row[r + 1], row[r + 2]), v[r + 1][k + 1]);
		}
	}
	uint to = p.dstBase + (p.row + first) * p.dstPitch + x, pitch = p.dstPitch;
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		if (first + r < end) storeMade(to + r * pitch, made[r]);
	}
}

void main() {
	CELL all = CELL(OPAQUE);
#if defined(ALPHA)
	// A few groups make all tiles, so the launch costs almost nothing if there are no tiles
	// to make.
	uint tiles = flags[0] * p.tiles, across = p.across, columns = p.columns;
	for (uint i = gl_WorkGroupID.x; i < tiles; i += p.stride) {
		uint here = i % across * 64 + gl_LocalInvocationID.x;
		tile(p.column + min(here, columns - 1), i / across * ROWS, mix(0u, p.rows, here < columns), all);
	}
#else
	uint x = gl_GlobalInvocationID.x;
	if (x >= p.columns) return;
	tile(p.column + x, gl_WorkGroupID.y * ROWS, p.rows, all);
	if (all != CELL(OPAQUE)) flags[0] = 1u;
#endif
}
