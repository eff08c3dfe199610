// The first steps of an edge detector by Canny, in whole numbers, so that every device finds the same
// edges: luma times alpha, blurred along rows (.luma), blurred along columns (.blur), its gradient
// (.gradient), and what of that is a maximum along its direction (.thin).
//
//lathe:variant u8.luma U8 LUMA
//lathe:variant f32.luma F32 LUMA
//lathe:variant u32.blur BLUR
//lathe:variant u32.gradient GRADIENT
//lathe:variant u32.thin THIN
#version 450
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint width;    // pixels a row of the image
	uint height;   // rows of the image
	uint column;   // first pixel to make in each row
	uint columns;  // pixels to make
	uint row;      // first row to make
	uint rows;     // rows to make
	uint srcBase;  // pixel of row 0
	uint srcPitch; // pixels from row to row
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint across;
	uint tiles;
	uint stride;
	uint radius; // rows above and below that a result depends on
	uint taps;   // of the blur, on each side
	uint low;    // squares of gradients above which pixels are weak and strong
	uint high;
	uint weigh;  // 1: luma is multiplied by alpha
} p;

#if defined(F32)
layout(set = 0, binding = 0) readonly buffer Src { float src[]; };
#else
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
#endif
layout(set = 0, binding = 1) writeonly buffer Dst { uint dst[]; };
#if defined(LUMA) || defined(BLUR)
layout(set = 0, binding = 2) readonly buffer Weights { float weights[]; };
#endif

#include "lib/canny.glsl"

uint indexOf(int x, int y) {
	int last = int(min(p.height - 1, p.row + p.rows - 1 + p.radius)); // the bound window may end there
	return p.srcBase + uint(clamp(y, 0, last)) * p.srcPitch + uint(clamp(x, 0, int(p.width) - 1));
}

#if defined(LUMA)
uint levelAt(int x, int y) {
#if defined(U8)
	uint v = src[indexOf(x, y)];
	uint grey = (v & 0xffu) * 299 + ((v >> 8) & 0xffu) * 587 + ((v >> 16) & 0xffu) * 114;
	uint alpha = mix(255u, v >> 24, p.weigh != 0);
	return (grey * alpha * 4 + 15937) / 31875; // times TOP/(1000·255·255)
#else
	uint i = indexOf(x, y) * p.channels, more = min(p.channels - 1, 1u); // a grey pixel has one number
	float r = src[i], g = src[i + more], b = src[i + 2 * more], a = p.weigh != 0 ? src[i + 3] : 1.0;
	precise float grey = (r * 0.299 + g * 0.587) + b * 0.114;
	precise float weighed = mix(grey, r, p.channels == 1) * a;
	precise float level = weighed * float(TOP) + 0.5;
	return level > 0.0 ? uint(int(min(level, float(TOP)))) : 0u; // 0 for NaN too
#endif
}
#elif defined(GRADIENT)
int levelAt(int x, int y) { return int(src[indexOf(x, y)]); }
#elif defined(THIN)
// Two numbers of 16 bits with a sign are in a word.
ivec2 gradientAt(uint i) { return ivec2(int(src[i] << 16) >> 16, int(src[i]) >> 16); }

uint squareAt(int x, int y) {
	ivec2 g = gradientAt(indexOf(x, y));
	bool inside = all(bvec4(x >= 0, y >= 0, x < int(p.width), y < int(p.height)));
	return mix(0u, uint(g.x * g.x + g.y * g.y), inside);
}
#else
uint levelAt(int x, int y) { return src[indexOf(x, y)]; }
#endif

uint made(int x, int y) {
#if defined(LUMA) || defined(BLUR)
#if defined(LUMA)
	const ivec2 step_ = ivec2(1, 0);
#else
	const ivec2 step_ = ivec2(0, 1);
#endif
	uint sum = levelAt(x, y) * uint(int(weights[0])), taps = p.taps;
	for (uint k = 1; k <= taps; k++) {
		ivec2 d = step_ * int(k);
		sum += (levelAt(x - d.x, y - d.y) + levelAt(x + d.x, y + d.y)) * uint(int(weights[k]));
	}
	return (sum + 32768) >> 16;
#elif defined(GRADIENT)
	int a = levelAt(x - 1, y - 1), b = levelAt(x, y - 1), c = levelAt(x + 1, y - 1);
	int d = levelAt(x - 1, y), e = levelAt(x + 1, y);
	int f = levelAt(x - 1, y + 1), g = levelAt(x, y + 1), h = levelAt(x + 1, y + 1);
	int gx = (c + 2 * e + h) - (a + 2 * d + f), gy = (f + 2 * g + h) - (a + 2 * b + c);
	return (uint(gx) & 0xffffu) | (uint(gy) << 16);
#else
	ivec2 g = gradientAt(indexOf(x, y));
	uint square = uint(g.x * g.x + g.y * g.y);
	uint ax = uint(abs(g.x)), ay = uint(abs(g.y)) << 15, flat_ = ax * 13573; // the tangent of 22.5°, times 2¹⁵
	bool across = ay < flat_, down = ay > flat_ + (ax << 16);
	int dx = mix(mix(-1, 1, (g.x ^ g.y) >= 0), 0, down), dy = mix(1, 0, across);
	dx = mix(dx, 1, across);
	uint before = squareAt(x - dx, y - dy), after = squareAt(x + dx, y + dy);
	// Of two equal neighbours along an axis the first one is a maximum.
	uint least = mix(after, max(after, 1u) - 1, any(bvec2(across, down)));
	bool most = all(bvec3(square > before, square > least, square > p.low));
	return mix(0u, mix(WEAK, STRONG, square > p.high), most);
#endif
}

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i >= p.columns) return;
	uint x = p.column + i, y = p.row + gl_WorkGroupID.y;
	dst[p.dstBase + y * p.dstPitch + x] = made(int(x), int(y));
}
