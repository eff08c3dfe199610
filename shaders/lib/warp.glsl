// The weighted mean of the pixels around a point, for warp.comp. Include after pixels.glsl.

// MOST is the largest factor by which the weights are spread.
const float MOST = 32.0;

// NOTHING is an alpha that may be the rounding of a coordinate. What is not above it has no colour.
const float NOTHING = 1e-6;

Pixel at(int x, int y) {
	return pixelOf(fetchPack(p.srcBase + uint(clamp(y, p.top, p.bottom)) * p.srcPitch + uint(clamp(x, p.left, p.right))), 0);
}

// weighed is a pixel whose colours are multiplied by alpha.
vec4 weighed(int x, int y) {
	Pixel v = at(x, y);
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
			line += k * weighed(cell.x + i, cell.y + j);
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
		[[unroll]] for (int i = -1; i <= 2; i++) line += weight(float(i) - part.x) * weighed(cell.x + i, cell.y + j);
		sum += weight(float(j) - part.y) * line;
	}
	return sum;
#else
	vec4 a = weighed(cell.x, cell.y), b = weighed(cell.x + 1, cell.y), c = weighed(cell.x, cell.y + 1), d = weighed(cell.x + 1, cell.y + 1);
	return mix(mix(a, b, part.x), mix(c, d, part.x), part.y);
#endif
}
#endif
