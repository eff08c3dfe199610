// The plain stages of pointwise operations. Include after lib/pixels.glsl.

// A stage maps each colour component v to v·scale + offset. In a LUMA stage v is the luma of
// the pixel. A STEP stage maps v ≥ threshold to FULL and other values to 0. In f32, values are
// clamped to 0..FULL if the stage says so. In u8 they are always clamped, and offset includes
// the half that rounds to nearest.
const uint LUMA = 1, STEP = 2, CLAMP = 4;

vec3 apply(Stage s, vec3 c) {
	c = (s.flags & LUMA) != 0 ? vec3(luma(c)) : c;
	vec3 v = fma(c, vec3(s.scale), vec3(s.offset));
	// If pixels are bytes, each operation rounds to a byte. So a chain in one pass equals
	// the single operations.
	if (BYTES) v = vec3(clamp(ivec3(v), 0, 255));
	else v = (s.flags & CLAMP) != 0 ? clamp(v, 0.0, FULL) : v;
	return (s.flags & STEP) != 0 ? mix(vec3(0.0), vec3(FULL), greaterThanEqual(c, vec3(s.threshold))) : v;
}
