// The minimum or the maximum over a disc of pixels, for each colour on its own, times alpha if
// that weighs. image/window does squares.
//
//lathe:dtypes u8 f32
//lathe:variant *.min LEAST ROWS=4
//lathe:variant *.max MOST ROWS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
#include "lib/stencil_params.glsl"
	uint radius;   // pixels on each side
	uint weigh;    // 1: colours weigh by alpha; 0: alpha is that of the pixel
	uint steps;    // ⌈(2·radius + 1) / TAPS⌉
} p;

#include "lib/pixels.glsl"
#include "lib/around.glsl"
#include "lib/weighed.glsl"

const uint TAPS = 4; // pixels of a row that are read at a time
#if defined(LEAST)
const float NONE = 3.4028235e38;
vec4 both(vec4 a, vec4 b) { return min(a, b); }
#else
const float NONE = -3.4028235e38;
vec4 both(vec4 a, vec4 b) { return max(a, b); }
#endif

vec4 valueOf(Pixel v) {
	vec4 w = weighed(v);
	return mix(vec4(v.rgb * FULL, FULL), w, bvec4(p.weigh != 0u));
}

void tile(uint x, uint first, uint end) {
	int radius = int(p.radius), top = int(p.row + first) - radius;
	uint lines = 2 * p.radius + ROWS, steps = p.steps;
	vec4 made[ROWS];
	[[unroll]] for (uint r = 0; r < ROWS; r++) made[r] = vec4(NONE);
	for (uint y = 0; y < lines; y++) {
		int half_[ROWS]; // pixels on each side of this row that are in the disc of a pixel
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			int dy = int(y) - int(r) - radius, rest = radius * radius - dy * dy;
			// Half a unit keeps the roots of whole numbers away from whole numbers.
			half_[r] = mix(-1, int(sqrt(float(max(rest, 0)) + 0.5)), rest >= 0);
		}
		uint row = rowAt(top + int(y));
		for (uint s = 0; s < steps; s++) {
			vec4 v[TAPS];
			int d[TAPS];
			[[unroll]] for (uint t = 0; t < TAPS; t++) {
				d[t] = int(s * TAPS + t) - radius;
				v[t] = valueOf(pixelOf(fetchPack(row + columnAt(int(x) + d[t])), 0));
			}
			[[unroll]] for (uint t = 0; t < TAPS; t++) {
				[[unroll]] for (uint r = 0; r < ROWS; r++) made[r] = mix(made[r], both(made[r], v[t]), bvec4(abs(d[t]) <= half_[r]));
			}
		}
	}
	[[unroll]] for (uint r = 0; r < ROWS; r++) {
		uint y = p.row + first + r;
		Pixel own = pixelAt(int(x), int(y)), v = unweighed(made[r]);
		if (p.weigh == 0u) v.alpha = own.alpha;
		if (first + r < end) storePixel(x, y, v);
	}
}

void main() EACH_TILE(tile)
