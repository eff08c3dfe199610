// Adds the energy of edges of an image in each cell of a grid: how far the luma times alpha of a pixel
// is from that of the next pixel to the right, and of the next one below, in 255 levels. Of a large image
// only every so many columns and rows are pixels here. All numbers are whole, so that each device has
// the same sums. A workgroup adds a cell.
//
//lathe:dtypes u8 f32
//lathe:variant *
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint left; // the pixels to add: columns left to right, without the last
	uint right;
	uint top;
	uint bottom;
	uint width; // of the image
	uint height;
	uint cellWidth;
	uint cellHeight;
	uint cellX; // first cell
	uint cellY;
	uint stepX; // columns from pixel to pixel, of which cells begin at multiples
	uint stepY;
	uint across; // cells in a row of the grid
	uint base;   // pixel 0 of row 0
	uint pitch;
	uint channels; // floats a pixel, in f32
	uint add;      // 1: what was written counts too
} p;

#if defined(U8)
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
#else
layout(set = 0, binding = 0) readonly buffer Src { float src[]; };
#endif
layout(set = 0, binding = 1) buffer Energies { uint energies[]; };

shared uint sums[64];

// levelOf is luma times alpha. The weights are those of ITU-R BT.601 in 1/256.
int levelOf(uvec3 c, uint alpha) { return int((((c.r * 77u + c.g * 150u + c.b * 29u) >> 8) * alpha) >> 8); }

#if defined(U8)
#define LEVEL(i) levelOf(uvec3(src[i] & 0xffu, (src[i] >> 8) & 0xffu, (src[i] >> 16) & 0xffu), src[i] >> 24)
#else
uint byteOf(float v) {
	precise float level = v * 255.0 + 0.5;
	return level > 0.0 ? uint(int(min(level, 255.0))) : 0u; // 0 for NaN too
}

int levelAt(uint i, uint channels) {
	uint last = channels - 1u;
	return levelOf(uvec3(byteOf(src[i]), byteOf(src[i + min(last, 1u)]), byteOf(src[i + min(last, 2u)])),
		mix(255u, byteOf(src[i + last]), channels == 4u));
}
#define LEVEL(i) levelAt((i) * channels, channels)
#endif

void main() {
	uint lane = gl_LocalInvocationID.x, channels = p.channels, pitch = p.pitch, last = p.height - 1u;
	uint stepX = p.stepX, stepY = p.stepY;
	uvec2 cell = uvec2(p.cellX, p.cellY) + gl_WorkGroupID.xy;
	uint left = max(cell.x * p.cellWidth, p.left), right = min((cell.x + 1u) * p.cellWidth, p.right);
	uint top = max(cell.y * p.cellHeight, p.top), bottom = min((cell.y + 1u) * p.cellHeight, p.bottom);
	left = (left + stepX - 1u) / stepX * stepX;
	top = (top + stepY - 1u) / stepY * stepY;
	uint sum = 0u;
	for (uint x = left + lane * stepX; x < right && top < bottom; x += 64u * stepX) {
		uint beside = min(x + stepX, p.width - 1u), row = p.base + top * pitch;
		int here = LEVEL(row + x);
		for (uint y = top; y < bottom; y += stepY) {
			int other = LEVEL(row + beside);
			row = p.base + min(y + stepY, last) * pitch;
			int below = LEVEL(row + x);
			sum += uint(abs(here - other) + abs(here - below));
			here = below;
		}
	}
	sums[lane] = sum;
	barrier();
	if (lane != 0u) return;
	for (uint k = 1u; k < 64u; k++) sum += sums[k];
	uint i = cell.y * p.across + cell.x;
	if (p.add != 0u) sum += energies[i];
	energies[i] = sum;
}
