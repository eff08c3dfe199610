// Makes one rectangle of the regions that image/trim has found: its first column, its first row, its
// width and its height. Where nothing was found it is the whole image. One workgroup does it.
//
//lathe:variant i32
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint regions;
	uint width; // of the image
	uint height;
} p;

layout(set = 0, binding = 0) readonly buffer Regions { ivec4 regions[]; };
layout(set = 0, binding = 1) writeonly buffer Result { int result[]; };

const ivec4 NOWHERE = ivec4(0x7fffffff, 0x7fffffff, 0, 0);
shared ivec4 found[64];

ivec4 both(ivec4 a, ivec4 b) { return ivec4(min(a.xy, b.xy), max(a.zw, b.zw)); }

void main() {
	uint lane = gl_LocalInvocationID.x;
	ivec4 region = NOWHERE;
	for (uint i = lane; i < p.regions; i += 64u) region = both(region, regions[i]);
	found[lane] = region;
	barrier();
	if (lane != 0u) return;
	for (uint k = 1u; k < 64u; k++) region = both(region, found[k]);
	if (region.z == 0) region = ivec4(0, 0, p.width, p.height);
	result[0] = region.x;
	result[1] = region.y;
	result[2] = region.z - region.x;
	result[3] = region.w - region.y;
}
