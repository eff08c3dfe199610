// Raises the luma of each pixel by what image/clahe_table has for it, mixed from the four tiles
// around the pixel. Hue stays, and so does alpha.
//
//lathe:dtypes u8 f32
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint column;  // first pixel to make in each row
	uint columns; // pixels to make
	uint row;     // first row to make
	uint first;   // the row of the whole image with which this one begins
	uint srcBase; // pixel 0 of row 0
	uint srcPitch;
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint tilesX;   // tiles side by side
	uint tilesY;
	float perX; // tiles of a pixel
	float perY;
} p;

#include "lib/pixels.glsl"
#include "lib/histogram.glsl"

layout(set = 0, binding = 2) readonly buffer Table { float table[]; };

uint levelOf(RAW v) {
#if defined(U8)
	return lumaLevel(v);
#else
	if (p.channels == 1) return binOf(v.r);
	precise float grey = (v.r * 0.299 + v.g * 0.587) + v.b * 0.114;
	return binOf(grey);
#endif
}

// tileAt is the number of a tile in its row or column, and tileAt(x + 1) that of the next one.
uint tileAt(float x, uint tiles) { return uint(clamp(int(x), 0, int(tiles) - 1)); }

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i >= p.columns) return;
	uint x = p.column + i, y = p.row + gl_WorkGroupID.y;
	RAW v = fetchPack(p.srcBase + y * p.srcPitch + x);
	vec2 at = (vec2(float(int(x)), float(int(y + p.first))) + 0.5) * vec2(p.perX, p.perY) - 0.5;
	vec2 cell = floor(at), part = at - cell;
	uint left = tileAt(cell.x, p.tilesX), right = tileAt(cell.x + 1.0, p.tilesX);
	uint above = tileAt(cell.y, p.tilesY) * p.tilesX, below = tileAt(cell.y + 1.0, p.tilesY) * p.tilesX;
	uint level = levelOf(v);
	float raised = mix(
		mix(table[(above + left) * BINS + level], table[(above + right) * BINS + level], part.x),
		mix(table[(below + left) * BINS + level], table[(below + right) * BINS + level], part.x), part.y);

	// Colours move by the same number. Where one would leave the range, all come nearer to the luma.
	Pixel made[PACK];
	made[0] = pixelOf(v, 0);
	float was = luma(made[0].rgb), l = clamp(was + raised, 0.0, FULL);
	vec3 c = made[0].rgb + (l - was);
	float low = min(c.r, min(c.g, c.b)), high = max(c.r, max(c.g, c.b));
	float nearer = mix(1.0, l / mix(1.0, l - low, low < 0.0), low < 0.0);
	nearer = min(nearer, mix(1.0, (FULL - l) / mix(1.0, high - l, high > FULL), high > FULL));
	made[0].rgb = clamp(mix(l + (c - l) * nearer, c, bvec3(nearer >= 1.0)), 0.0, FULL) + HALF;
	storePack(p.dstBase + y * p.dstPitch + x, made);
}
