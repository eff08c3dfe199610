// The weighted mean of the pixels around a point, for warp.comp. Include after pixels.glsl.

// MOST is the largest factor by which the weights are spread.
const float MOST = 32.0;

// NOTHING is an alpha that may be the rounding of a coordinate. What is not above it has no colour.
const float NOTHING = 1e-6;

// These are parameters. Some invocations make several pixels, and a CPU driver loads parameters again after each.
uint srcBase, srcPitch;
ivec2 low, high;

RAW at(int x, int y) {
	ivec2 v = clamp(ivec2(x, y), low, high);
	return fetchPack(srcBase + uint(v.y) * srcPitch + uint(v.x));
}

// weighed is a pixel whose colours are multiplied by alpha.
vec4 weighed(RAW raw) {
	Pixel v = pixelOf(raw, 0);
	float a = weightOf(v);
	return vec4(v.rgb * a, a);
}

#if defined(CUBIC)
const float RADIUS = 2.0;
// E. Catmull and R. Rom.
float weight(float d) {
	d = min(abs(d), 2.0);
	float near = fma(fma(1.5, d, -2.5) * d, d, 1.0), tail = fma(fma(fma(-0.5, d, 2.5), d, -4.0), d, 2.0);
	return mix(tail, near, d < 1.0);
}
#else
const float RADIUS = 1.0;
float weight(float d) { return max(1.0 - abs(d), 0.0); }
#endif

#if !defined(NEAREST)
// sampled is the weighted mean of pixels around a point, which is part from the middle of a pixel.
vec4 sampled(ivec2 cell, vec2 part, vec2 spread) {
#if defined(WIDE)
	spread = clamp(spread, 1.0, MOST);
	ivec2 first = ivec2(ceil(part - RADIUS * spread)), last = ivec2(floor(part + RADIUS * spread));
	vec4 sum = vec4(0.0);
	float total = 0.0;
	for (int j = first.y; j <= last.y; j++) {
		vec4 line = vec4(0.0);
		float across = 0.0;
		for (int i = first.x; i <= last.x; i++) {
			float k = weight((float(i) - part.x) / spread.x);
			line += k * weighed(at(cell.x + i, cell.y + j));
			across += k;
		}
		float k = weight((float(j) - part.y) / spread.y);
		sum += k * line;
		total += k * across;
	}
	return sum / total;
#elif defined(CUBIC)
	vec4 sum = vec4(0.0);
	[[unroll]] for (int j = -1; j <= 2; j++) {
		vec4 line = vec4(0.0);
		[[unroll]] for (int i = -1; i <= 2; i++) line += weight(float(i) - part.x) * weighed(at(cell.x + i, cell.y + j));
		sum += weight(float(j) - part.y) * line;
	}
	return sum;
#else
	RAW a = at(cell.x, cell.y), b = at(cell.x + 1, cell.y), c = at(cell.x, cell.y + 1), d = at(cell.x + 1, cell.y + 1);
	return mix(mix(weighed(a), weighed(b), part.x), mix(weighed(c), weighed(d), part.x), part.y);
#endif
}
#endif
