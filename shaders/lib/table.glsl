// A table of colours, and curves of each colour and cubes of colours in it. Include after lib/pixels.glsl.

#if !defined(TABLE_BINDING)
#define TABLE_BINDING 2
#endif

#if defined(TEXEL)
layout(set = 0, binding = TABLE_BINDING) uniform samplerBuffer table;
vec3 entry(int i) { return texelFetch(table, i).rgb; }
#else
layout(set = 0, binding = TABLE_BINDING) readonly buffer Table { vec4 table[]; };
vec3 entry(int i) { return table[i].rgb; }
#endif

// curved is the value of the first n colours at c·scale + from, between them by a straight line.
vec3 curved(vec3 c, int n, vec3 scale, vec3 from) {
	vec3 at = clamp(c * scale + from, 0.0, float(n - 1));
	ivec3 i = clamp(ivec3(at), 0, n - 2); // also for a NaN
	vec3 low = vec3(entry(i.r).r, entry(i.g).g, entry(i.b).b), high = vec3(entry(i.r + 1).r, entry(i.g + 1).g, entry(i.b + 1).b);
	return mix(low, high, at - vec3(i));
}

// curvedFrom is the value of n colours from first on at c in 0..1.
vec3 curvedFrom(int first, vec3 c, int n) {
	vec3 at = clamp(c * float(n - 1), 0.0, float(n - 1));
	ivec3 i = clamp(ivec3(at), 0, n - 2), k = i + first;
	vec3 low = vec3(entry(k.r).r, entry(k.g).g, entry(k.b).b), high = vec3(entry(k.r + 1).r, entry(k.g + 1).g, entry(k.b + 1).b);
	return mix(low, high, at - vec3(i));
}

// cubed interpolates along the edges of a cell from its lowest corner to its highest one: first
// along the colour that is the farthest, and last along the nearest.
vec3 cubed(vec3 c, int first, int n, vec3 scale, vec3 from) {
	vec3 at = clamp(c * scale + from, 0.0, float(n - 1));
	ivec3 i = clamp(ivec3(at), 0, n - 2);
	vec3 f = at - vec3(i);
	int g = n, b = n * n, across = 1 + g + b, low = first + i.r + g * i.g + b * i.b;
	bool rg = f.r >= f.g, gb = f.g >= f.b, rb = f.r >= f.b;
	bool redFirst = all(bvec2(rg, rb)), redLast = !any(bvec2(rg, rb));
	int far = mix(mix(b, g, gb), 1, redFirst), near = mix(mix(g, b, gb), 1, redLast);
	float most = max(max(f.r, f.g), f.b), least = min(min(f.r, f.g), f.b), middle = max(min(f.r, f.g), min(max(f.r, f.g), f.b));
	return entry(low) * (1.0 - most) + entry(low + far) * (most - middle) + entry(low + across - near) * (middle - least) + entry(low + across) * least;
}
