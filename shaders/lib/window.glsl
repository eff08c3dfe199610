// Values that image/window makes minima, maxima and sums of, and how pixels become such values
// and values become pixels. Include after pixels.glsl and, with SRC_WIDE and without FLAGS, alpha.glsl.

#if defined(U8)
#define VALUE ivec4
#else
#define VALUE vec4
#endif

VALUE taken(RAW v) {
#if defined(SRC_WIDE)
	return VALUE(v);
#elif defined(U8)
	int a = mix(255, int(v >> 24), p.weigh != 0u);
	return ivec4(int(v & 0xffu) * a, int((v >> 8) & 0xffu) * a, int((v >> 16) & 0xffu) * a, a);
#else
	float a = mix(1.0, max(v.a, 0.0), p.weigh != 0u);
	return vec4(v.rgb * a, a);
#endif
}

#if defined(LEAST)
VALUE both(VALUE a, VALUE b) { return min(a, b); }
#elif defined(MOST)
VALUE both(VALUE a, VALUE b) { return max(a, b); }
#else
VALUE both(VALUE a, VALUE b) { return a + b; }
#endif

#if defined(SRC_WIDE)
#if defined(U8)
// quotient is n/d rounded to nearest, halves up. It is below 2^9, and d below 2^25.
int quotient(int n, int d) {
	int q = int(float(uint(n)) / float(d) + 0.5), rest = 2 * (n - q * d);
	return q + int(rest >= d) - int(rest < -d);
}
#endif

Pixel pixelOfValue(VALUE v) {
#if defined(SUM)
	uint n = (2 * p.radius + 1) * (2 * p.radius + 1);
#else
	const uint n = 1;
#endif
#if defined(U8)
	int alpha = quotient(v.a, int(n)), part = max(v.a, 1);
	ivec3 c = ivec3(quotient(v.r, part), quotient(v.g, part), quotient(v.b, part));
	return Pixel(vec3(mix(ivec3(0), c, bvec3(alpha > 0))), uint(alpha) << 24);
#else
	bool some = v.a > 0.0;
	return Pixel(mix(vec3(0.0), v.rgb / mix(1.0, v.a, some), bvec3(some)), v.a / float(n));
#endif
}
#endif

void store(uint x, uint y, VALUE v) {
	uint to = p.dstBase + y * p.dstPitch + x;
#if defined(SRC_WIDE)
	Pixel c[1];
	c[0] = pixelOfValue(v);
#if !defined(FLAGS)
	if (p.weigh == 0u) loadAlpha(p.alphaBase + y * p.alphaPitch + x, c);
#endif
	storePack(to, c);
#else
	dst[to] = vec4(v);
#endif
}

// make makes the pixels of invocation gx of row gy.
void make(uint gx, uint gy);

// inside reports whether there are pixels for invocation gx.
bool inside(uint gx) {
#if defined(SRC_WIDE) && defined(LONG)
	return gx * (2 * p.radius + 1) < p.columns;
#elif defined(SRC_WIDE)
	return gx * SPAN < p.columns;
#else
	return gx < p.columns;
#endif
}

#if defined(FLAGS)
layout(set = 0, binding = FLAGS) readonly buffer Flags { uint flags[4]; };

void main() {
	// A few groups make all tiles, so the launch costs almost nothing without a flag.
	uint tiles = flags[0] * p.tiles, across = p.across;
	for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += p.stride) {
		uint x = tile % across * 64 + gl_LocalInvocationID.x;
		if (inside(x)) make(x, tile / across);
	}
}
#else
void main() {
	if (inside(gl_GlobalInvocationID.x)) make(gl_GlobalInvocationID.x, gl_WorkGroupID.y);
}
#endif
