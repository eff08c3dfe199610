// Powers of floats in 0..1.

const float LOG2_E = 1.44269504, LN2_HIGH = 0.693359375, LN2_LOW = -2.12194440e-4;

// powers is x^e for each x in 0..1, and e > 0. It is exact to a few units of the last place of 1.
// Below the least normal number x counts as 0.
vec3 powers(vec3 x, float e) {
	ivec3 bits = floatBitsToInt(max(x, vec3(1.17549435e-38))), n = (bits - 0x3f3504f3) >> 23;
	vec3 f = intBitsToFloat(bits - (n << 23)) - 1.0, s = f / (2.0 + f), z = s * s;
	vec3 tail = z * (6.66666667e-1 + z * (4.00000006e-1 + z * (2.85714286e-1 + z * 2.22222222e-1)));
	vec3 h = 0.5 * f * f;
	precise vec3 ln = vec3(n) * LN2_HIGH + (f - (h - (s * (h + tail) + vec3(n) * LN2_LOW)));
	vec3 t = max(ln * e, vec3(-87.0)), k = floor(t * LOG2_E + 0.5);
	precise vec3 r = (t - k * LN2_HIGH) - k * LN2_LOW;
	vec3 y = r + r * r * (0.5 + r * (0.166665763 + r * (0.0416665561 + r * (0.00836319476 + r * 0.00139262038))));
	vec3 v = intBitsToFloat(floatBitsToInt(1.0 + y) + (ivec3(k) << 23));
	return mix(v, vec3(0.0), lessThan(x, vec3(1.17549435e-38)));
}
