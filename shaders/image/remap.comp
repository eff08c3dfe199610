// Copies each pixel of the result from one pixel of the source, which a matrix of whole numbers
// finds: crop, pad, flip, flop and rotation by right angles. Outside of the source the border
// decides. Pixels are copied bit for bit.
//
// In the .rows variants columns stay side by side and no pixel comes from the border. Loads
// are then from neighbouring addresses, which devices like. The .narrow variants are for parts of a
// few columns and many rows, as borders are.
//
//lathe:dtypes u8 f32
//lathe:variant *
//lathe:variant *.narrow NARROW
//lathe:variant *.rows ROWS
#version 450
#extension GL_GOOGLE_include_directive : require

#if defined(NARROW)
layout(local_size_x = 8, local_size_y = 8) in;
#else
layout(local_size_x = 64) in;
#endif

layout(push_constant) uniform Params {
	uint column;  // first pixel to make in each row
	uint columns; // pixels to make
	uint row;     // first row to make
	uint srcBase; // pixel 0 of row 0
	uint srcPitch;
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	int width;    // of the source
	int height;
	int xx; // The source of (x,y) is (xx·x + xy·y + x0, yx·x + yy·y + y0).
	int xy;
	int x0;
	int yx;
	int yy;
	int y0;
	uint border; // what is outside: 0 a colour, 1 the edge, 2 the mirrored source, 3 the source again
	float red;   // the colour in 0..FULL
	float green;
	float blue;
	float alpha;
	uint rows; // to make, in .narrow
} p;

#include "lib/pixels.glsl"

#if !defined(ROWS)
// within maps v into 0..n-1 as the border says. For a colour it does not matter how.
int within(int v, int n) {
	if (p.border < 2) return clamp(v, 0, n - 1);
	uint period = p.border == 2 ? 2 * uint(n) : uint(n);
	uint m = v >= 0 ? uint(v) % period : period - 1 - uint(-1 - v) % period;
	return int(m < uint(n) ? m : period - 1 - m);
}
#endif

void main() {
	uint i = gl_GlobalInvocationID.x, j = gl_GlobalInvocationID.y;
	if (i >= p.columns) return;
#if defined(NARROW)
	if (j >= p.rows) return;
#endif
	int x = int(p.column + i), y = int(p.row + j);
	uint to = p.dstBase + uint(y) * p.dstPitch + uint(x);
	Pixel made[PACK];
#if defined(ROWS)
	int sx = x + p.x0, sy = p.yy * y + p.y0;
	made[0] = pixelOf(fetchPack(p.srcBase + uint(sy) * p.srcPitch + uint(sx)), 0);
#else
	int sx = p.xx * x + p.xy * y + p.x0, sy = p.yx * x + p.yy * y + p.y0;
	made[0] = pixelOf(fetchPack(p.srcBase + uint(within(sy, p.height)) * p.srcPitch + uint(within(sx, p.width))), 0);
	if (p.border == 0 && (sx < 0 || sy < 0 || sx >= p.width || sy >= p.height)) {
		made[0].rgb = vec3(p.red, p.green, p.blue);
#if defined(U8)
		made[0].alpha = uint(p.alpha) << 24;
#else
		made[0].alpha = p.alpha;
#endif
	}
#endif
	storePack(to, made);
}
