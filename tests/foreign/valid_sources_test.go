package foreign_test

// Modules that compilers make of shaders.
var sources = []valid{
	{
		name: "aliases of one type",
		source: `#version 450
layout(set=0, binding=0) readonly buffer A { uint n; uint a[]; };
layout(set=0, binding=0) buffer B { uint m; uint b[]; };
void main() { b[1] = a[0] + 1; m = n + 5; }`,
		buffers: [][]uint32{{1, 2, 3, 4}},
		want:    map[int][]uint32{0: {6, 2, 3, 4}},
	},
	{
		name: "aliases of several types",
		source: `#version 450
layout(binding=0) readonly buffer A { float a[]; };
layout(binding=0) readonly buffer B { vec4 b[]; };
layout(binding=0) readonly buffer C { uvec2 c[]; };
layout(binding=1) writeonly buffer D { uint d[]; };
layout(binding=1) writeonly buffer E { float e[]; };
void main() { d[0] = c[1].y; e[1] = a[1] + b[0].w; e[2] = b[0].x; }`,
		buffers: [][]uint32{floats(1, 2, 3, 4), {0, 0, 0, 0}},
		want:    map[int][]uint32{1: floats(4, 6, 1)},
		refused: map[string]string{"webgpu": "binding 1 is two variables of different types"},
	},
	{
		name:  "a pointer that leaves a loop",
		flags: []string{"-O"},
		source: `#version 450
layout(binding=0) buffer A { int d[]; };
void main() {
  int i = 0;
  do { int t = d[i]; d[i] = d[i+1] + i; d[i+1] = t + d[i]; i++; } while (d[i] < 1000 && i < 5);
  int s = 0;
  for (int k = 0; k < d[7]; k++) { s += d[k]; if (s > 30) break; d[k+8] = s; }
  d[7] = s + i;
}`,
		buffers: [][]uint32{{1, 2, 6, 0, 7, 3, 9, 5, 0, 0, 0, 0, 0, 0, 0, 0}},
		want:    map[int][]uint32{0: {2, 7, 2, 10, 7, 29, 9, 33, 2, 9, 11, 21, 28, 0, 0, 0}},
	},
	{
		// Mesa 22.3 takes the first comparison for true and the second one for false.
		name: "a widened int and a constant", refused: refusedBut("Int64", "lavapipe", "cpu"),
		source: `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(binding=0) buffer A { int a[]; };
void main() {
  int64_t x = int64_t(a[0]);
  a[1] = int(16l <= x) + 2 * int(x < 5l) + 4 * int(x > -2l) + 8 * int(x >= -3l);
  i64vec2 y = i64vec2(a[0], a[2]);
  a[3] = int(any(lessThan(y, i64vec2(-3l)))) + 2 * int(all(greaterThan(y, i64vec2(-4l))));
}`,
		buffers: [][]uint32{{0xfffffffd, 0, 7, 0}},
		want:    map[int][]uint32{0: {0xfffffffd, 10, 7, 2}},
	},
	{
		// The invocations leave the loop in different rounds. Drivers that run them side by side
		// go on loading zeros for those that have left.
		name:  "what the last round of a loop has loaded",
		flags: []string{"-O"},
		source: `#version 450
layout(local_size_x = 4) in;
layout(binding=0) readonly buffer A { uint a[]; };
layout(binding=1) buffer B { uint b[]; };
void main() {
  uint g = gl_LocalInvocationID.x, k = 0, c;
  do { k++; c = a[4*k + g] + 100; } while (k < a[g]);
  b[g] = c;
}`,
		buffers: [][]uint32{{1, 2, 3, 1, 11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34}, {0, 0, 0, 0}},
		want:    map[int][]uint32{1: {111, 122, 133, 114}},
		wrong:   map[string]bool{"lavapipe": true, "swiftshader": true, "webgpu": true},
	},
	{
		name: "three descriptor sets",
		source: `#version 450
layout(set=2, binding=1) buffer A { uint a[]; };
layout(set=0, binding=0) buffer B { uint b[]; };
layout(set=1, binding=0) uniform C { uvec4 c; };
void main() { a[0] = b[0] + c.y; b[1] = 7; }`,
		buffers: [][]uint32{{1, 0, 0, 0}, {10, 20, 30, 40}, {0}, {0, 0, 0, 0}},
		want:    map[int][]uint32{0: {1, 7}, 3: {21}},
	},
	{
		name: "one descriptor set, the fourth",
		source: `#version 450
layout(set=3, binding=1) buffer A { uint a[]; };
layout(set=3, binding=0) readonly buffer B { uint b[]; };
void main() { a[0] = b[0] + 1; }`,
		buffers: [][]uint32{{4, 0, 0, 0}, {0, 0, 0, 0}},
		want:    map[int][]uint32{1: {5}},
	},
	{
		name:  "HLSL with a name, spaces and its own decorations",
		flags: []string{"-x", "hlsl", "-fentry-point=Twice", "-fhlsl-functionality1", "--target-env=vulkan1.1"},
		source: `RWStructuredBuffer<uint> out1 : register(u0, space2);
StructuredBuffer<uint> in1 : register(t1, space0);
[numthreads(4, 1, 1)] void Twice(uint3 id : SV_DispatchThreadID) { out1[id.x] = 2 * in1[id.x]; }`,
		buffers: [][]uint32{{0}, {1, 2, 3, 4}, {0, 0, 0, 0}},
		want:    map[int][]uint32{2: {2, 4, 6, 8}},
	},
	{
		name: "matrices in push constants",
		source: `#version 450
layout(push_constant) uniform P { mat3 m; layout(row_major) mat2 r; vec3 v[2]; float s; } p;
layout(binding=0) buffer A { float a[]; };
void main() {
  for (int c = 0; c < 3; c++) for (int k = 0; k < 3; k++) a[3*c+k] = p.m[c][k];
  a[9] = p.r[0].x; a[10] = p.r[0].y; a[11] = p.r[1].x; a[12] = p.r[1].y;
  for (int c = 0; c < 2; c++) for (int k = 0; k < 3; k++) a[13+3*c+k] = p.v[c][k];
  a[19] = p.s;
}`,
		push:    floats(1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0 /* by rows */, 10, 12, 11, 13 /* vectors */, 14, 15, 16, 0, 17, 18, 19, 0, 20),
		buffers: [][]uint32{make([]uint32, 20)},
		want:    map[int][]uint32{0: floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)},
	},
	{
		name: "matrices that are not square", refused: map[string]string{"webgpu": "not square"},
		source: `#version 450
layout(binding=0) readonly buffer M { mat3 m; layout(row_major) mat2x3 r; mat2 q[2]; } p;
layout(binding=1) buffer A { float a[]; };
void main() {
  for (int c = 0; c < 3; c++) for (int k = 0; k < 3; k++) a[3*c+k] = p.m[c][k];
  for (int c = 0; c < 2; c++) for (int k = 0; k < 3; k++) a[9+3*c+k] = p.r[c][k];
  mat2x3 whole = p.r; a[15] = whole[1].z; a[16] = p.q[1][0].y;
}`,
		buffers: [][]uint32{floats(1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 13, 11, 14, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25), make([]uint32, 20)},
		want:    map[int][]uint32{1: floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15, 21)},
	},
	{
		name: "square matrices by rows",
		source: `#version 450
layout(binding=0, row_major) readonly buffer M { mat4 m; mat2 q; mat4 s[2]; } p;
layout(binding=1) buffer A { float a[]; };
void main() {
  mat4 whole = p.m;
  for (int c = 0; c < 4; c++) for (int k = 0; k < 4; k++) a[4*c+k] = whole[c][k];
  vec4 col = p.m[2];
  a[16] = p.m[3].x; a[17] = p.q[1].x; vec4 v = p.m * vec4(1, 0, 0, 0); a[18] = v.y; a[19] = col.y; a[20] = p.s[1][1].w; a[21] = p.m[1].z;
}`,
		buffers: [][]uint32{floats(1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16, 17, 18, 19, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 21, 25, 29, 33, 22, 26, 30, 34, 23, 27, 31, 35, 24, 28, 32, 36), make([]uint32, 24)},
		want:    map[int][]uint32{1: floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 13, 18, 2, 10, 27, 7)},
	},
	{
		name: "square matrices by rows, by a variable index",
		source: `#version 450
layout(binding=0, row_major) readonly buffer M { mat4 m; } p;
layout(binding=1) buffer A { float a[]; };
void main() { for (int c = 0; c < 4; c++) for (int k = 0; k < 4; k++) a[4*c+k] = p.m[c][k]; }`,
		buffers: [][]uint32{floats(1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16), make([]uint32, 16)},
		want:    map[int][]uint32{1: floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)},
		refused: map[string]string{"webgpu": "matrix by rows"},
	},
	{
		name: "a write to a matrix by rows",
		source: `#version 450
layout(binding=0, row_major) buffer M { mat2 m; mat2 n; } p;
void main() { p.m[1].x = 7; p.n = mat2(1, 2, 3, 4); }`,
		buffers: [][]uint32{floats(1, 2, 3, 4, 5, 6, 7, 8)},
		want:    map[int][]uint32{0: floats(1, 7, 3, 4, 1, 3, 2, 4)},
		refused: map[string]string{"webgpu": "matrix by rows"},
	},
	{
		name:  "local size by specialisation constants",
		flags: []string{"--target-env=vulkan1.3"}, env: "vulkan1.3",
		source: `#version 450
layout(local_size_x_id = 3, local_size_y = 2) in;
layout(binding=0) buffer A { uint a[]; };
void main() { a[gl_LocalInvocationIndex] = gl_WorkGroupSize.x + 10 * gl_WorkGroupSize.y; }`,
		buffers: [][]uint32{{0, 0, 0, 0}},
		want:    map[int][]uint32{0: {21, 21, 0}},
	},
	{
		name: "printing for debuggers",
		source: `#version 450
#extension GL_EXT_debug_printf : require
layout(binding=0) buffer A { uint a[]; };
void main() { debugPrintfEXT("%u", a[0]); a[0]++; }`,
		buffers: [][]uint32{{1, 0, 0, 0}},
		want:    map[int][]uint32{0: {2}},
	},
	{
		name: "bytes and halves in uniform buffers",
		source: `#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(binding=0) uniform U { uint8_t a; uint8_t b; uint16_t c; } u;
layout(binding=1) buffer A { uint a[]; };
void main() { a[0] = uint(u.a); a[1] = uint(u.b); a[2] = uint(u.c); }`,
		buffers: [][]uint32{{0x12345678, 0, 0, 0}, {0, 0, 0, 0}},
		want:    map[int][]uint32{1: {0x78, 0x56, 0x1234}},
		refused: map[string]string{"swiftshader": "16BitAccess", "webgpu": "16BitAccess"},
	},
	{
		name: "bytes and halves in push constants",
		source: `#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(push_constant) uniform U { uint8_t a; uint8_t b; uint16_t c; float16_t h; } u;
layout(binding=0) buffer A { uint a[]; };
void main() { a[0] = uint(u.a); a[1] = uint(u.b); a[2] = uint(u.c); a[3] = uint(float(u.h)); }`,
		push:    []uint32{0x12345678, 0x4400},
		buffers: [][]uint32{{0, 0, 0, 0}},
		want:    map[int][]uint32{0: {0x78, 0x56, 0x1234, 4}},
		refused: map[string]string{"swiftshader": "StoragePushConstant", "webgpu": "StoragePushConstant"},
	},
}
