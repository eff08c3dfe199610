// Functions with arrays, structs and shared memory as parameters.
#version 450
layout(local_size_x = 4, local_size_y = 4, local_size_z = 2) in;
layout(std430, binding = 0) coherent buffer A { float a[]; };
layout(std430, binding = 1) restrict readonly buffer W { float weights[64]; float tail[]; };
struct Pair { float x; int n; };
shared vec2 part[32];
const float lut[5] = float[](0.1, 0.2, 0.4, 0.2, 0.1);
Pair join(Pair p, Pair q) { return Pair(p.x + q.x, p.n + q.n); }
float dotRow(float row[4], vec4 v) { float s = 0.0; for (int i = 0; i < 4; i++) s += row[i] * v[i]; return s; }
void swap(inout float x, inout float y) { float t = x; x = y; y = t; }
float twice(float x) { return x + x; }
void main() {
	uint l = gl_LocalInvocationIndex;
	float row[4];
	for (int i = 0; i < 4; i++) row[i] = weights[i * 3] + lut[(int(l) + i) % 5];
	swap(row[0], row[3]);
	Pair p = Pair(0.0, 0);
	Pair all[3];
	for (int i = 0; i < 3; i++) { all[i] = Pair(row[i], i); p = join(p, all[i]); }
	part[l] = vec2(p.x, float(p.n));
	groupMemoryBarrier();
	barrier();
	for (uint s = 16; s > 0; s >>= 1) {
		if (l < s) part[l] += part[l + s];
		barrier();
	}
	vec4 q = vec4(part[0], part[1].yx);
	q.zw *= twice(q.x);
	a[gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x] = dotRow(row, q) + tail[l];
}
