// Maps colours by a look-up table: by a curve of each colour, by a cube of colours, or by a curve and
// then a cube. Between the colours of the cube it interpolates in the tetrahedron around a colour.
// Alpha stays.
//
//lathe:dtypes u8 f32
//lathe:variant *
//lathe:variant *.texel TEXEL
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
	int curve;     // colours of the curve: 0 or at least 2
	int size;      // colours along an edge of the cube: 0 or at least 2
	float curveR;  // where a colour lies in the curve: its red in 0..1 times curveR, plus curveFromR
	float curveG;
	float curveB;
	float curveFromR;
	float curveFromG;
	float curveFromB;
	float cubeR; // and in the cube
	float cubeG;
	float cubeB;
	float cubeFromR;
	float cubeFromG;
	float cubeFromB;
	float amount; // the part of the result that is new
} p;

#include "lib/pixels.glsl"

// The curve and then the cube, in which red changes fastest.
#include "lib/table.glsl"

void main() {
	uint x = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
	if (x >= p.columns) return;
	RAW v = fetchPack(p.srcBase + row * p.srcPitch + x);
	int curve = p.curve, size = p.size;
	float amount = p.amount;
	Pixel c[PACK];
	vec3 made[PACK];
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		c[k] = pixelOf(v, k);
		made[k] = c[k].rgb * (1.0 / FULL);
	}
	if (curve > 0) {
		vec3 scale = vec3(p.curveR, p.curveG, p.curveB), from = vec3(p.curveFromR, p.curveFromG, p.curveFromB);
		[[unroll]] for (uint k = 0; k < PACK; k++) made[k] = curved(made[k], curve, scale, from);
	}
	if (size > 0) {
		vec3 scale = vec3(p.cubeR, p.cubeG, p.cubeB), from = vec3(p.cubeFromR, p.cubeFromG, p.cubeFromB);
		[[unroll]] for (uint k = 0; k < PACK; k++) made[k] = cubed(made[k], curve, size, scale, from);
	}
	[[unroll]] for (uint k = 0; k < PACK; k++) {
		vec3 mixed = clamp(made[k] * amount + c[k].rgb * (1.0 / FULL) * (1.0 - amount), 0.0, 1.0);
		if (p.channels == 1) mixed = vec3(clamp(luma(mixed), 0.0, 1.0));
		c[k].rgb = mixed * FULL + HALF;
	}
	storePack(p.dstBase + row * p.dstPitch + x, c);
}
