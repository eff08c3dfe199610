// Makes squares of an image their mean, weighted by alpha, in three steps: .columns adds the rows of a
// square in each column, .squares adds these sums and divides, and .fill stores the result.
// A square is counted from the corner of the whole image at the top left.
//
//lathe:dtypes u8 f32
//lathe:variant *.columns DST_WIDE DST_READ COLUMNS
//lathe:variant *.squares SRC_WIDE DST_WIDE SQUARES
//lathe:variant *.fill SRC_WIDE
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns;  // invocations in each row
	uint column;   // the column of the image, or of squares, of the first one
	uint row;      // the row of squares, or of the image in .fill, of the first one
	uint srcBase;
	uint srcPitch;
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint size;     // of a square
	uint offset;   // how many rows of the first square are above the image
	uint low;      // the rows that .columns adds
	uint high;
	uint width;    // columns of the image that .squares adds
	uint add;      // 1: .columns adds to what is there
} p;

#include "lib/pixels.glsl"

void main() {
	uint i = gl_GlobalInvocationID.x, j = gl_WorkGroupID.y;
	if (i >= p.columns) return;
#if defined(COLUMNS)
	uint x = p.column + i, end = (p.row + j + 1) * p.size;
	uint first = max(end - p.size, p.offset + p.low) - p.offset, last = min(end - p.offset, p.high);
	vec4 sum = p.add != 0u ? dst[p.dstBase + j * p.dstPitch + i] : vec4(0.0);
	for (uint y = first; y < last; y++) {
		Pixel v = pixelOf(fetchPack(p.srcBase + y * p.srcPitch + x), 0);
		float a = clamp(weightOf(v), 0.0, 1.0);
		sum += vec4(v.rgb * a, a);
	}
	dst[p.dstBase + j * p.dstPitch + i] = sum;
#elif defined(SQUARES)
	uint first = i * p.size, last = min(first + p.size, p.width);
	vec4 sum = vec4(0.0);
	for (uint x = first; x < last; x++) sum += fetchPack(p.srcBase + j * p.srcPitch + x);
	uint top = (p.row + j) * p.size, bottom = min(top + p.size - p.offset, p.high);
	float n = float(int((bottom - (max(top, p.offset) - p.offset)) * (last - first)));
	dst[p.dstBase + j * p.dstPitch + i] = vec4(sum.rgb / mix(1.0, sum.a, sum.a > 0.0), sum.a / n);
#else
	uint x = p.column + i, y = p.row + j;
	vec4 v = fetchPack(p.srcBase + ((y + p.offset) / p.size) * p.srcPitch + x / p.size);
	bool some = BYTES ? v.a * 255.0 >= HALF : v.a > 0.0;
	vec3 c = mix(vec3(0.0), clamp(v.rgb, 0.0, FULL) + HALF, bvec3(some));
	Pixel made[PACK];
#if defined(U8)
	made[0] = Pixel(c, uint(int(min(v.a, 1.0) * 255.0 + HALF)) << 24);
#else
	made[0] = Pixel(c, min(v.a, 1.0));
#endif
	storePack(p.dstBase + y * p.dstPitch + x, made);
#endif
}
