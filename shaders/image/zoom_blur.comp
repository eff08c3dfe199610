// The mean of points on the line from a pixel towards a centre. A point between pixels is the mean of
// the four around it. How many points there are is a whole number that all devices compute alike.
//
//lathe:dtypes u8 f32
//lathe:variant * ROWS=1
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	uint radius;   // rows above and below that a result depends on
	uint weigh;    // 1: alpha weighs
	uint first;    // the row of the whole image with which this one begins
	uint perPixel; // points for a pixel of distance, times 4096
	int nearX;     // the pixel at the centre
	int nearY;
	float centreX; // the centre, in pixels
	float centreY;
	float strength;
} p;

#include "lib/pixels.glsl"
#include "lib/around.glsl"
#include "lib/mean.glsl"

void tile(uint x, uint first, uint end) {
	int y = int(p.row + first), whole = y + int(p.first);
	bool weigh = p.weigh != 0u;
	vec2 line = vec2(p.centreX - (float(int(x)) + 0.5), p.centreY - (float(whole) + 0.5)) * p.strength;
	uint far = min(uint(max(abs(int(x) - p.nearX), abs(whole - p.nearY))), 1u << 19);
	uint n = min(1u + ((far * p.perPixel) >> 12), 4096u);
	vec4 sum = vec4(0.0);
	for (uint k = 0; k < n; k++) {
		vec2 at = line * ((float(int(k)) + 0.5) / float(int(n))), cell = floor(at), part = at - cell;
		int u = int(x) + int(cell.x), v = y + int(cell.y);
		vec4 a = weighed(pixelAt(u, v), weigh), b = weighed(pixelAt(u + 1, v), weigh);
		vec4 c = weighed(pixelAt(u, v + 1), weigh), d = weighed(pixelAt(u + 1, v + 1), weigh);
		sum += mix(mix(a, b, part.x), mix(c, d, part.x), part.y);
	}
	if (first < end) storePixel(x, p.row + first, meanOf(sum / float(int(n)), pixelAt(int(x), y), weigh));
}

void main() EACH_TILE(tile)
