// The blend modes of W3C Compositing and Blending Level 1: blended is B(cb, cs) of a backdrop
// and a source, in 0..1. BLEND has the modes that work on each colour alone, and MIX those that
// mix colours. The numbers are those of Blends in internal/families/picture/composite.go.

#if defined(BLEND)
vec3 screened(vec3 b, vec3 s) { return b + s - b * s; }

vec3 hardLight(vec3 b, vec3 s) { return mix(screened(b, 2.0 * s - 1.0), 2.0 * b * s, lessThanEqual(s, vec3(0.5))); }

vec3 softLight(vec3 b, vec3 s) {
	vec3 d = mix(sqrt(max(b, 0.0)), ((16.0 * b - 12.0) * b + 4.0) * b, lessThanEqual(b, vec3(0.25)));
	return mix(b + (2.0 * s - 1.0) * (d - b), b - (1.0 - 2.0 * s) * b * (1.0 - b), lessThanEqual(s, vec3(0.5)));
}

// quotient is min(1, n/d), and 1 where d is 0.
vec3 quotient(vec3 n, vec3 d) {
	bvec3 some = greaterThan(d, vec3(0.0));
	return mix(vec3(1.0), min(n / mix(vec3(1.0), d, some), 1.0), some);
}

vec3 blended(vec3 b, vec3 s) {
	switch (p.blend) {
	case 1: return b * s;
	case 2: return screened(b, s);
	case 3: return hardLight(s, b);
	case 4: return min(b, s);
	case 5: return max(b, s);
	case 6: return mix(quotient(b, 1.0 - s), vec3(0.0), lessThanEqual(b, vec3(0.0)));
	case 7: return mix(1.0 - quotient(1.0 - b, s), vec3(1.0), greaterThanEqual(b, vec3(1.0)));
	case 8: return hardLight(b, s);
	case 9: return softLight(b, s);
	case 10: return abs(b - s);
	case 11: return b + s - 2.0 * b * s;
	}
	return s;
}
#endif

#if defined(MIX)
float lightness(vec3 c) { return dot(c, vec3(0.3, 0.59, 0.11)); }
float least(vec3 c) { return min(c.r, min(c.g, c.b)); }
float most(vec3 c) { return max(c.r, max(c.g, c.b)); }

// withLightness is SetLum of the specification, and withSaturation is SetSat.
vec3 withLightness(vec3 c, float l) {
	c += l - lightness(c);
	float low = least(c), high = most(c);
	bool below = low < 0.0, above = high > 1.0;
	c = mix(c, l + (c - l) * (l / mix(1.0, l - low, below)), bvec3(below));
	return mix(c, l + (c - l) * ((1.0 - l) / mix(1.0, high - l, above)), bvec3(above));
}

vec3 withSaturation(vec3 c, float s) {
	float low = least(c), range = most(c) - low;
	bool some = range > 0.0;
	return mix(vec3(0.0), (c - low) * (s / mix(1.0, range, some)), bvec3(some));
}

vec3 blended(vec3 b, vec3 s) {
	switch (p.blend) {
	case 12: return withLightness(withSaturation(s, most(b) - least(b)), lightness(b));
	case 13: return withLightness(withSaturation(b, most(s) - least(s)), lightness(b));
	case 14: return withLightness(s, lightness(b));
	}
	return withLightness(b, lightness(s));
}
#endif
