#version 310 es
// Reduced precision, which decorates functions, variables and results.
precision mediump float;
precision mediump int;
layout(local_size_x = 4, local_size_y = 4) in;
layout(std430, binding = 0) buffer Data { highp vec2 v[]; };
struct Light { mediump vec3 at; lowp float power; };
layout(std140, binding = 1) uniform Lights { Light light[4]; mat3 turn; } u;
mediump float shade(mediump vec3 n, Light l) { return max(dot(n, l.at), 0.0) * l.power; }
shared mediump float sums[16];
void main() {
	uint l = gl_LocalInvocationIndex;
	vec3 n = u.turn * vec3(v[l], 1.0);
	sums[l] = 0.0;
	for (int i = 0; i < 4; i++) sums[l] += shade(n, u.light[i]);
	barrier();
	v[l] = vec2(sums[l ^ 1u], sums[l]) * mat2(u.turn);
}
