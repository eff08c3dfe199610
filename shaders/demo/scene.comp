// A mountain lake at first light, painted back to front: sky, sun and clouds,
// four ridges in thickening haze, forest on the shore, and the lake that
// mirrors all of it. One invocation paints one pixel, from four samples.
//
//lathe:variant u8
#version 450

layout(local_size_x = 8, local_size_y = 8) in;

layout(push_constant) uniform Params {
	uint width; // pixels
	uint height;
} frame;

layout(set = 0, binding = 0) writeonly buffer Out {
	uint pixels[]; // R | G << 8 | B << 16 | A << 24, row by row
};

const vec2 sun = vec2(0.52, 0.10);
const float shore = -0.22; // height of the far shore; the frame spans -1 to 1

// hash is the same on every device: integers have no rounding.
float hash(int x, int y) {
	uint h = uint(x) * 0x9E3779B1u ^ (uint(y) * 0x85EBCA77u + 0x27D4EB2Fu);
	h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
	h = (h ^ (h >> 12)) * 0x297A2D39u;
	return float((h ^ (h >> 15)) >> 8) / 16777216.0;
}

float noise(vec2 p) {
	vec2 c = floor(p);
	vec2 f = p - c;
	f = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
	int x = int(c.x), y = int(c.y);
	return mix(mix(hash(x, y), hash(x + 1, y), f.x), mix(hash(x, y + 1), hash(x + 1, y + 1), f.x), f.y);
}

float fbm(vec2 p, int octaves) {
	float sum = 0.0, amp = 0.5;
	for (int i = 0; i < octaves; i++) {
		sum += amp * noise(p);
		p = vec2(1.6 * p.x - 1.2 * p.y, 1.2 * p.x + 1.6 * p.y) + 7.3;
		amp *= 0.5;
	}
	return sum;
}

vec3 sky(vec2 p) {
	float h = clamp((p.y - shore) / 1.2, 0.0, 1.0);
	vec3 c = mix(vec3(1.00, 0.66, 0.38), vec3(0.93, 0.50, 0.43), smoothstep(0.0, 0.28, h));
	c = mix(c, vec3(0.42, 0.36, 0.56), smoothstep(0.18, 0.60, h));
	c = mix(c, vec3(0.10, 0.16, 0.36), smoothstep(0.50, 1.0, h));
	float d = length(p - sun);
	c += vec3(1.0, 0.62, 0.26) * (0.55 * exp(-3.2 * d) + 0.35 * exp(-11.0 * d));
	// Long clouds, lit from below on the sun's side.
	float cover = fbm(vec2(p.x * 1.1 + 3.0, p.y * 5.5), 5);
	float below = fbm(vec2(p.x * 1.1 + 3.0, p.y * 5.5 - 0.28), 5);
	float cloud = smoothstep(0.50, 0.74, cover) * smoothstep(0.05, 0.4, h);
	float lit = clamp(0.45 + 4.0 * (cover - below), 0.0, 1.0) * exp(-0.9 * d);
	c = mix(c, mix(vec3(0.36, 0.27, 0.42), vec3(1.0, 0.70, 0.50), lit), 0.75 * cloud);
	return mix(c, vec3(1.0, 0.95, 0.82), smoothstep(0.105, 0.098, d));
}

// ridge is the height of mountain range i (0 is the farthest) at x.
float ridge(float x, int i) {
	float k = float(i);
	float n = fbm(vec2(x * (0.9 + 0.35 * k) + 11.7 * k, 3.1 * k), 6);
	float peaks = 1.0 - abs(2.0 * n - 0.95);
	return shore + mix(0.78 * peaks * peaks - 0.02, 0.42 * n, 0.33 * k) - 0.10 * k;
}

// pines says whether x, at this height above the ground, lies within a row of
// trees; pitch is the distance from tree to tree, size the tallest one's height.
bool pines(float x, float height, float pitch, float size, int seed) {
	bool hit = false;
	for (int i = -1; i <= 1; i++) {
		int cell = int(floor(x / pitch)) + i;
		float mid = (float(cell) + 0.2 + 0.6 * hash(cell, seed)) * pitch;
		float tall = size * (0.55 + 0.45 * hash(cell, seed + 1));
		float t = max(height, 0.0) / tall; // 0 at the foot, 1 at the tip
		// Whorls of branches: a cone with a saw-tooth flank that droops.
		float away = abs(x - mid) / (0.21 * tall);
		float flank = (1.0 - t) * (1.0 - 0.55 * fract(t * 13.0 + 1.4 * away + 0.3 * hash(int(t * 13.0), cell)));
		hit = hit || (t < 1.0 && away < max(flank, 0.05 * (1.0 - t)));
	}
	return hit;
}

vec3 land(vec2 p) {
	vec3 c = sky(p);
	vec3 haze = vec3(0.96, 0.62, 0.46);
	for (int i = 0; i < 4; i++) {
		float h = ridge(p.x, i);
		float tree = i < 2 ? 0.0 : 0.05 * float(i - 1);
		if (p.y < h || (p.y < h + tree && pines(p.x, p.y - h, 0.3 * tree, tree, 20 * i))) {
			float depth = h - p.y;
			vec3 rock = mix(vec3(0.44, 0.34, 0.48), vec3(0.055, 0.085, 0.13), float(i) / 3.0);
			// Flanks that face the sun are warm, gullies are dark.
			vec2 q = vec2(p.x * 5.0 + 0.8 * depth, p.y * 3.5 - abs(p.x) * 0.4) + 5.0 * float(i);
			float relief = fbm(q + vec2(0.10, 0.05), 5) - fbm(q, 5);
			rock *= clamp(1.0 + 2.6 * relief, 0.55, 1.6);
			if (i < 2) {
				float snow = smoothstep(0.10, 0.0, depth - 0.25 * fbm(q * 2.0, 4) * smoothstep(0.05, 0.45, h));
				rock = mix(rock, vec3(1.0, 0.80, 0.74) * (0.75 + 1.6 * relief), 0.8 * snow * smoothstep(0.06, 0.2, h));
			}
			float mist = exp(-7.0 * max(p.y - shore, 0.0)) * (0.75 - 0.17 * float(i));
			c = mix(rock, haze, clamp(mist + 0.20 - 0.07 * float(i), 0.0, 1.0));
			c += vec3(0.55, 0.30, 0.12) * exp(-3.5 * length(p - sun)) * (0.45 - 0.1 * float(i));
		}
	}
	return c;
}

vec3 paint(vec2 p) {
	vec3 c;
	float bank = -0.93 + 0.22 * smoothstep(-0.5, -1.9, p.x) + 0.10 * smoothstep(0.9, 1.9, p.x) + 0.05 * fbm(vec2(p.x * 2.0, 9.0), 4);
	if (p.y > shore) {
		c = land(p);
	} else {
		float depth = shore - p.y;
		float ripple = fbm(vec2(p.x * 2.2 / (0.12 + depth), 9.0 * log(0.04 + depth)), 4) - 0.47;
		vec2 q = vec2(p.x + 0.10 * ripple * depth, shore + depth * (0.92 + 0.5 * ripple));
		c = land(q) * mix(0.86, 0.50, clamp(depth, 0.0, 1.0)) + vec3(0.00, 0.015, 0.04);
		float glint = smoothstep(0.06, 0.22, ripple) * exp(-6.0 * abs(p.x - sun.x) / (0.25 + depth));
		c += vec3(1.0, 0.62, 0.30) * 0.55 * glint;
		c = mix(c, vec3(0.96, 0.66, 0.50), 0.5 * exp(-55.0 * depth));
	}
	// The near bank, its grass, and the pines that frame the view.
	float grass = 0.055 * hash(int(floor(p.x * 210.0)), 3) * fract(p.x * 210.0);
	bool tree = (p.x < -0.9 && pines(p.x, p.y - bank, 0.30, 1.35, 97)) || (p.x > 1.3 && pines(p.x, p.y - bank, 0.26, 0.8, 1));
	if (p.y < bank + grass || tree) {
		c = vec3(0.035, 0.045, 0.075) + 0.10 * vec3(0.9, 0.5, 0.3) * smoothstep(0.06, 0.0, bank + grass - p.y) * exp(-abs(p.x - sun.x));
	}
	return c * (1.0 - 0.06 * dot(p, p));
}

void main() {
	uvec2 at = gl_GlobalInvocationID.xy;
	if (at.x >= frame.width || at.y >= frame.height) {
		return;
	}
	vec3 sum = vec3(0.0);
	for (int s = 0; s < 4; s++) {
		vec2 f = vec2(at) + vec2(0.125 + 0.25 * float(s), 0.375 + 0.5 * float(s & 1) - 0.25 * float(s >> 1));
		sum += clamp(paint(vec2(2.0 * f.x - float(frame.width), float(frame.height) - 2.0 * f.y) / float(frame.height)), 0.0, 1.0);
	}
	uvec3 v = uvec3(sum * (255.0 / 4.0) + 0.5);
	pixels[at.y * frame.width + at.x] = v.x | v.y << 8 | v.z << 16 | 0xff000000u;
}
