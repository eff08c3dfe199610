// Makes colours darker towards the corners. Alpha stays.
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
	float byX;    // what makes of pixels the distance from the middle, where that of a corner is 1
	float byY;
	float middleX; // in pixels
	float middleY;
	float amount;
	float radius;  // the distance at which it begins
	float perWidth; // 1 by the distance in which it grows
} p;

#include "lib/pixels.glsl"

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i >= p.columns) return;
	uint x = p.column + i, y = p.row + gl_WorkGroupID.y;
	vec2 d = vec2((float(int(x)) + 0.5 - p.middleX) * p.byX, (float(int(y + p.first)) + 0.5 - p.middleY) * p.byY);
	float t = clamp((sqrt(d.x * d.x + d.y * d.y) - p.radius) * p.perWidth, 0.0, 1.0);
	float k = 1.0 - p.amount * (t * t * (3.0 - 2.0 * t));
	Pixel made[PACK];
	made[0] = pixelOf(fetchPack(p.srcBase + y * p.srcPitch + x), 0);
	made[0].rgb = clamp(made[0].rgb * k, 0.0, FULL) + HALF;
	storePack(p.dstBase + y * p.dstPitch + x, made);
}
