// Converts the colours of a profile: curves make light of each colour, a matrix makes of it light
// of the colours of the target, and the curve of sRGB encodes that. Alpha stays.
// With TABLES there may be a cube of colours after the curves, in the encoding of sRGB, of which light is made, and
// a curve at the end, which makes colours of the target of those that the curve of sRGB has encoded.
//
//lathe:dtypes u8 f32
//lathe:variant *
//lathe:variant *.texel TEXEL
//lathe:variant *.tables TABLES
//lathe:variant *.tables.texel TABLES TEXEL
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
	uint channels; // floats a pixel, in f32
	int curve;     // colours of the curve, at least 2
	float redR;    // red light of the target: redR·red + redG·green + redB·blue
	float redG;
	float redB;
	float greenR;
	float greenG;
	float greenB;
	float blueR;
	float blueG;
	float blueB;
#if defined(TABLES)
	int size;   // colours along an edge of the cube, or 0
	int encode; // colours of the curve at the end, or 0
#endif
} p;

#include "lib/pixels.glsl"
#include "lib/powers.glsl"
#include "lib/table.glsl"

void main() {
	uint x = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
	if (x >= p.columns) return;
	RAW v = fetchPack(p.srcBase + row * p.srcPitch + x);
	int curve = p.curve;
#if defined(TABLES)
	int size = p.size, encode = p.encode;
#endif
	vec3 red = vec3(p.redR, p.redG, p.redB), green = vec3(p.greenR, p.greenG, p.greenB), blue = vec3(p.blueR, p.blueG, p.blueB);
	Pixel made[PACK];
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		made[k] = pixelOf(v, k);
		vec3 light = curved(made[k].rgb, curve, vec3(float(curve - 1) / FULL), vec3(0.0));
#if defined(TABLES)
		if (size > 0) {
			vec3 v = cubed(light, curve, size, vec3(float(size - 1)), vec3(0.0)), a = abs(v);
			light = sign(v) * mix(powers((a + 0.055) * (1.0 / 1.055), 2.4), a * (1.0 / 12.92), lessThanEqual(a, vec3(0.04045)));
		}
#endif
		light = clamp(vec3(dot(red, light), dot(green, light), dot(blue, light)), 0.0, 1.0);
		vec3 c = mix(1.055 * powers(light, 1.0 / 2.4) - 0.055, 12.92 * light, lessThanEqual(light, vec3(0.0031308)));
#if defined(TABLES)
		if (encode > 0) c = curvedFrom(curve + size * size * size, c, encode);
#endif
		if (p.channels == 1) c = vec3(luma(c));
		made[k].rgb = clamp(c, 0.0, 1.0) * FULL + HALF;
	}
	storePack(p.dstBase + row * p.dstPitch + x, made);
}
