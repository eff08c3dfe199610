// Applies what image/tone_table made to an image of floats. Bytes are mapped by
// image/pointwise_byte.table.
//
//lathe:variant f32 F32
//lathe:variant f32.texel F32 TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint columns;  // packs a row
	uint srcBase;  // first pack of the first row
	uint srcPitch; // packs from row to row
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel
	uint equalize; // 1: the table has levels, 0: the lowest level and the factor of each colour
} p;

#include "lib/pixels.glsl"
#include "lib/histogram.glsl"

layout(set = 0, binding = 2) readonly buffer Table { float table[]; };

float toned(float v, uint colour) {
	if (p.equalize != 0) return table[colour * BINS + binOf(v)];
	return clamp((v - table[2 * colour]) * table[2 * colour + 1], 0.0, 1.0);
}

void main() {
	uint x = gl_GlobalInvocationID.x;
	if (x >= p.columns) return;
	Pixel c[PACK];
	c[0] = pixelOf(fetchPack(p.srcBase + gl_WorkGroupID.y * p.srcPitch + x), 0);
	c[0].rgb = vec3(toned(c[0].rgb.r, 0), toned(c[0].rgb.g, 1), toned(c[0].rgb.b, 2));
	storePack(p.dstBase + gl_WorkGroupID.y * p.dstPitch + x, c);
}
