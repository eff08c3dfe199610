// Adds random numbers to colours. They are a hash of the place of a pixel and a seed (M. Jarzynski and
// M. Olano, Hash functions for GPU rendering, 2020), in whole numbers: so they are the same on all
// devices, in strips too. Alpha stays.
//
// A Gaussian number is the sum of twelve bytes.
//
//lathe:dtypes u8 f32
//lathe:variant *
//lathe:variant *.gaussian GAUSSIAN
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
	uint seed;
	uint mono;   // 1: the same number for all colours
	float scale; // of whole numbers
} p;

#include "lib/pixels.glsl"

uvec3 pcg3d(uvec3 v) {
	v = v * 1664525u + 1013904223u;
	v.x += v.y * v.z;
	v.y += v.z * v.x;
	v.z += v.x * v.y;
	v ^= v >> 16u;
	v.x += v.y * v.z;
	v.y += v.z * v.x;
	v.z += v.x * v.y;
	return v;
}

#if defined(GAUSSIAN)
int bytes(uint v) { return int((v & 0xffu) + ((v >> 8) & 0xffu) + ((v >> 16) & 0xffu) + (v >> 24)); }
int sum(uvec3 v) { return bytes(v.x) + bytes(v.y) + bytes(v.z) - 1530; }
ivec3 numbers(uvec3 at) {
	int first = sum(pcg3d(at));
	if (p.mono != 0u || p.channels == 1u) return ivec3(first);
	return ivec3(first, sum(pcg3d(uvec3(at.xy, at.z ^ 0x9e3779b9u))), sum(pcg3d(uvec3(at.xy, at.z ^ 0x3c6ef372u))));
}
#else
ivec3 numbers(uvec3 at) {
	ivec3 v = ivec3(pcg3d(at) >> 8u) - (1 << 23);
	return p.mono != 0u ? ivec3(v.x) : v;
}
#endif

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i >= p.columns) return;
	uint x = p.column + i, y = p.row + gl_WorkGroupID.y;
	precise vec3 added = vec3(numbers(uvec3(x, y + p.first, p.seed))) * p.scale;
	Pixel made[PACK];
	made[0] = pixelOf(fetchPack(p.srcBase + y * p.srcPitch + x), 0);
	precise vec3 v = made[0].rgb + added;
	made[0].rgb = clamp(v, 0.0, FULL) + HALF;
	storePack(p.dstBase + y * p.dstPitch + x, made);
}
