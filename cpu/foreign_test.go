package cpu_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// launchGLSL runs a shader with storage buffers that begin with the given bytes, and returns
// what they hold afterwards.
func launchGLSL(t *testing.T, source string, groups uint32, buffers ...[]byte) [][]byte {
	t.Helper()
	return launchCode(t, testkit.GLSL(t, source, "--target-env=vulkan1.1"), groups, buffers...)
}

// launchCode does the same for SPIR-V.
func launchCode(t *testing.T, code []byte, groups uint32, buffers ...[]byte) [][]byte {
	t.Helper()
	dev, err := cpu.Open(cpu.Options{NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	var hs []gpu.Handle
	for _, b := range buffers {
		hs = append(hs, testgpu.Load(t, dev, b))
	}
	if err := gpu.DispatchCompute(t.Context(), dev, code, hs, nil, [3]uint32{groups, 1, 1}); err != nil {
		t.Fatal(err)
	}
	var got [][]byte
	for i, h := range hs {
		b := make([]byte, len(buffers[i]))
		if err := dev.Read(t.Context(), h, 0, b); err != nil {
			t.Fatal(err)
		}
		got = append(got, b)
	}
	return got
}

func float32s(list ...float32) (b []byte) {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func float64s(list ...float64) (b []byte) {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func word(b []byte, i int) uint32    { return binary.LittleEndian.Uint32(b[4*i:]) }
func number(b []byte, i int) float32 { return math.Float32frombits(word(b, i)) }
func double(b []byte, i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
}
func sameFloat(got, want float64) bool {
	return got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want
}

// TestParts compares frexp and modf with package math, above all at the edges.
func TestParts(t *testing.T) {
	inf := math.Inf(1)
	xs := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 5.5, -5.5, 1e30, -3e-39, 1e-45, 3.4e38, inf, -inf, math.NaN(), 1.25e-38, 8388609.5}
	narrow := make([]float32, len(xs))
	for i, x := range xs {
		narrow[i] = float32(x)
	}
	const source = `#version 450
layout(local_size_x = 8) in;
layout(binding = 0) readonly buffer X { FLOAT x[]; };
layout(binding = 1) buffer S { FLOAT s[]; };
layout(binding = 2) buffer E { int e[]; };
layout(binding = 3) buffer F { FLOAT f[]; };
layout(binding = 4) buffer W { FLOAT w[]; };
void main() { uint i = gl_GlobalInvocationID.x; int n; FLOAT v; s[i] = frexp(x[i], n); e[i] = n; f[i] = modf(x[i], v); w[i] = v; }`
	check := func(name string, got [][]byte, x func(b []byte, i int) float64) {
		for i := range xs {
			in := x(got[0], i)
			s, n := math.Frexp(in)
			whole, fraction := math.Modf(in)
			if math.IsInf(in, 0) {
				fraction = math.Copysign(0, in)
			}
			if gs := x(got[1], i); !sameFloat(gs, s) || int32(word(got[2], i)) != int32(n) {
				t.Errorf("%s: frexp(%g) = %g, %d, want %g, %d", name, in, gs, int32(word(got[2], i)), s, n)
			}
			if gf, gw := x(got[3], i), x(got[4], i); !sameFloat(gf, fraction) || !sameFloat(gw, whole) {
				t.Errorf("%s: modf(%g) = %g, %g, want %g, %g", name, in, gf, gw, fraction, whole)
			}
		}
	}
	got := launchGLSL(t, strings.ReplaceAll(source, "FLOAT", "float"), 2, float32s(narrow...), make([]byte, 64), make([]byte, 64), make([]byte, 64), make([]byte, 64))
	check("f32", got, func(b []byte, i int) float64 { return float64(number(b, i)) })
	xs[8], xs[9], xs[14] = -3e-310, 5e-324, math.MaxFloat64
	got = launchGLSL(t, strings.ReplaceAll(source, "FLOAT", "double"), 2, float64s(xs...), make([]byte, 128), make([]byte, 64), make([]byte, 128), make([]byte, 128))
	check("f64", got, double)
}

// TestInverse multiplies matrices with their inverses, which must be the unit matrix, and
// compares determinants with those by elimination.
func TestInverse(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
void main() {
	uint i = gl_LocalInvocationID.x * 20;
	matN m;
	for (int c = 0; c < N; c++) for (int r = 0; r < N; r++) m[c][r] = x[i + c * N + r];
	matN p = inverse(m);
	for (int c = 0; c < N; c++) for (int r = 0; r < N; r++) y[i + c * N + r] = p[c][r];
	y[i + 16] = determinant(m);
}`
	for n := 2; n <= 4; n++ {
		x := make([]float32, 80)
		for i := range x {
			x[i] = float32((i*i*7+i*13)%23) - 11 + float32(i%5)/4
		}
		got := launchGLSL(t, strings.ReplaceAll(strings.ReplaceAll(source, "matN", "mat"+string(rune('0'+n))), "N", string(rune('0'+n))), 1, float32s(x...), make([]byte, 320))[1]
		for k := range 4 {
			det, largest := determinantOf(x[20*k:], n), 0.0
			for c := range n {
				for r := range n {
					sum, want := 0.0, 0.0
					for j := range n {
						sum += float64(x[20*k+j*n+r]) * float64(number(got, 20*k+c*n+j))
						largest = max(largest, math.Abs(float64(number(got, 20*k+c*n+j))))
					}
					if c == r {
						want = 1
					}
					if math.Abs(sum-want) > 1e-5*(1+50*largest) {
						t.Errorf("%d×%d, matrix %d: element %d, %d of the product is %g", n, n, k, c, r, sum)
					}
				}
			}
			if d := float64(number(got, 20*k+16)); math.Abs(d-det) > 1e-5*(1+math.Abs(det))*20 {
				t.Errorf("%d×%d, matrix %d: determinant %g, want %g", n, n, k, d, det)
			}
		}
	}
}

// determinantOf computes a determinant by elimination.
func determinantOf(x []float32, n int) float64 {
	m := make([]float64, n*n)
	for i := range m {
		m[i] = float64(x[i])
	}
	det := 1.0
	for k := range n {
		at := k
		for r := k; r < n; r++ {
			if math.Abs(m[r*n+k]) > math.Abs(m[at*n+k]) {
				at = r
			}
		}
		if at != k {
			det = -det
			for c := range n {
				m[k*n+c], m[at*n+c] = m[at*n+c], m[k*n+c]
			}
		}
		if det *= m[k*n+k]; det == 0 {
			return 0
		}
		for r := k + 1; r < n; r++ {
			f := m[r*n+k] / m[k*n+k]
			for c := range n {
				m[r*n+c] -= f * m[k*n+c]
			}
		}
	}
	return det
}

// TestRefract refracts rays, of which some are reflected totally.
func TestRefract(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 8) in;
layout(binding = 0) buffer Y { float y[]; };
void main() {
	uint i = gl_LocalInvocationID.x;
	float a = float(i) * 0.2;
	vec2 r = refract(vec2(sin(a), -cos(a)), vec2(0, 1), 1.5);
	y[2 * i] = r.x;
	y[2 * i + 1] = r.y;
}`
	got := launchGLSL(t, source, 1, make([]byte, 64))[0]
	for i := range 8 {
		a := float64(i) * 0.2
		wx, wy := 1.5*math.Sin(a), 0.0
		if math.Abs(wx) > 1 {
			wx = 0 // total reflection
		} else {
			wy = -math.Sqrt(1 - wx*wx)
		}
		if x, y := float64(number(got, 2*i)), float64(number(got, 2*i+1)); math.Abs(x-wx) > 1e-4 || math.Abs(y-wy) > 1e-4 {
			t.Errorf("angle %g: %g, %g, want %g, %g", a, x, y, wx, wy)
		}
	}
}

// TestZeroShared checks that memory which begins as zeros does so in every workgroup.
func TestZeroShared(t *testing.T) {
	const source = `#version 450
#extension GL_EXT_null_initializer : require
layout(local_size_x = 8) in;
shared uint s[9] = {};
shared struct { vec3 v; uint n; } p = {};
layout(binding = 0) buffer A { uint a[]; };
void main() {
	uint i = gl_LocalInvocationID.x;
	uint before = s[i] | s[8] | p.n | floatBitsToUint(p.v.y);
	barrier();
	s[i] = 77; s[8] = 78; p.n = 79; p.v.y = 5;
	barrier();
	a[gl_GlobalInvocationID.x] = before * 1000 + s[i];
}`
	got := launchGLSL(t, source, 50, make([]byte, 4*400))[0]
	for i := range 400 {
		if word(got, i) != 77 {
			t.Fatalf("invocation %d found %d", i, word(got, i)/1000)
		}
	}
}

// TestOldSubgroups compares the operations of the old extensions with what four invocations
// must get.
func TestOldSubgroups(t *testing.T) {
	const source = `#version 450
#extension GL_ARB_gpu_shader_int64 : require
#extension GL_ARB_shader_ballot : require
#extension GL_ARB_shader_group_vote : require
layout(local_size_x = 8) in;
layout(binding = 0) buffer A { uint a[]; };
void main() {
	uint i = gl_LocalInvocationID.x;
	if (i == 4) return;
	uint v = i * 10;
	a[8 * i] = readFirstInvocationARB(v);
	a[8 * i + 1] = readInvocationARB(v, 2u);
	a[8 * i + 2] = uint(ballotARB((i & 1u) == 1u));
	a[8 * i + 3] = anyInvocationARB(i == 2u) ? 1 : 0;
	a[8 * i + 4] = allInvocationsARB(i != 2u) ? 1 : 0;
	a[8 * i + 5] = allInvocationsEqualARB(i > 3u) ? 1 : 0;
}`
	got := launchGLSL(t, source, 1, make([]byte, 256))[0]
	for i := range 8 {
		want := []uint32{0, 20, 10, 1, 0, 1}
		if i > 3 {
			want = []uint32{50, 60, 10, 0, 1, 1}
		}
		if i == 4 {
			want = make([]uint32, 6)
		}
		for k, w := range want {
			if g := word(got, 8*i+k); g != w {
				t.Errorf("invocation %d, operation %d: got %d, want %d", i, k, g, w)
			}
		}
	}
}

// TestClock checks that the clocks go forward, and that they are read each time.
func TestClock(t *testing.T) {
	const source = `#version 450
#extension GL_EXT_shader_realtime_clock : require
#extension GL_ARB_shader_clock : require
#extension GL_ARB_gpu_shader_int64 : require
layout(binding = 0) buffer A { uint a[]; };
void main() {
	uint64_t begin = clockRealtimeEXT();
	uint n = 0;
	for (uint i = 0; i < 1000000; i++) { n = n * 3 + a[2]; if (clockRealtimeEXT() - begin > 2000000) break; }
	a[0] = n; a[1] = clock2x32ARB().x == 0 ? 0 : clockRealtimeEXT() - begin > 2000000 ? 1 : 2;
}`
	if got := launchGLSL(t, source, 1, make([]byte, 16))[0]; word(got, 1) != 1 {
		t.Errorf("two milliseconds are not over: %d", word(got, 1))
	}
}

// TestTexelBounds reads texels in range and out of range, which are zeros.
func TestTexelBounds(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 8) in;
layout(binding = 0) uniform usamplerBuffer x;
layout(binding = 1) buffer A { uvec4 a[]; };
void main() {
	int i = int(gl_LocalInvocationID.x);
	a[i] = texelFetch(x, i < 5 ? i : i == 5 ? -1 : i == 6 ? 0x10000000 : 2147483647);
	a[8 + i] = uvec4(textureSize(x));
}`
	in := make([]uint32, 16)
	for i := range in {
		in[i] = uint32(i + 1)
	}
	got := launchGLSL(t, source, 1, testkit.Words(in...), make([]byte, 256))[1]
	for i := range 64 {
		want := uint32(4)
		if i < 16 {
			want = in[i]
		} else if i < 32 {
			want = 0
		}
		if g := word(got, i); g != want {
			t.Errorf("word %d is %d, want %d", i, g, want)
		}
	}
}

// TestInputComponent takes components of built-in inputs at indices that are no constants.
func TestInputComponent(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 2, local_size_y = 2, local_size_z = 2) in;
layout(binding = 0) buffer A { uint a[]; };
void main() {
	uint i = gl_LocalInvocationIndex;
	a[i] = gl_LocalInvocationID[i % 3] + 10 * gl_WorkGroupSize[a[8] + i % 2] + 100 * gl_NumWorkGroups[a[8]];
}`
	got := launchGLSL(t, source, 3, make([]byte, 64))[0]
	for i := range 8 {
		id := []uint32{uint32(i & 1), uint32(i >> 1 & 1), uint32(i >> 2)}
		if g, want := word(got, i), id[i%3]+20+300; g != want {
			t.Errorf("invocation %d: got %d, want %d", i, g, want)
		}
	}
}

// TestUniformLoad loads from one place of a buffer in all invocations, as glslc writes it for
// Vulkan 1.0: the buffer is of the storage class Uniform, and it is written, too.
func TestUniformLoad(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 16) in;
layout(binding = 0) buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() {
	y[gl_GlobalInvocationID.x] = x[1];
	x[1] = 5;
	y[gl_GlobalInvocationID.x] += x[1];
}`
	x := []byte{1, 0, 0, 0, 3, 0, 0, 0}
	got := launchCode(t, testkit.GLSL(t, source, "--target-env=vulkan1.0"), 1, x, make([]byte, 64))
	for i := range 16 {
		v := got[1][4*i]
		if v != 8 && (v != 10 || i < 4) { // Invocations that follow may see the 5.
			t.Errorf("y[%d] is %d", i, v)
		}
	}
}

// TestFallThrough has a case that begins with a switch of its own and falls through to the
// default, as spirv-opt writes a default without statements.
func TestFallThrough(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() {
	uint g = gl_GlobalInvocationID.x, c = x[8];
	if (g < x[9]) {
		switch (x[g] & 3u) {
		case 2u:
			switch (x[10]) {
			case 0u:
				if (x[g] > 4u) {
					c = x[g] * 10u;
				}
				break;
			}
		default:
			break;
		}
	}
	y[g] = c + 1u;
}`
	x := make([]byte, 44)
	for i, v := range []byte{2, 6, 1, 10, 6, 3, 2, 0, 7, 8, 0} {
		x[4*i] = v
	}
	want := []byte{8, 61, 8, 101, 61, 8, 8, 8}
	for _, flag := range []string{"-O", "-O0"} {
		got := launchCode(t, testkit.GLSL(t, source, flag), 2, x, make([]byte, 32))
		for i, w := range want {
			if v := got[1][4*i]; v != w {
				t.Errorf("%s: y[%d] is %d, want %d", flag, i, v, w)
			}
		}
	}
}

// TestAllReturn has all invocations of a vector return in a loop that none of them leaves in
// another way. None goes on behind it.
func TestAllReturn(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 8) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() {
	uint g = gl_GlobalInvocationID.x;
	for (uint i = 0u; i < x[1]; i++) {
		if (g >= x[0]) return;
		y[16u * i] = 1u;
	}
	y[g] += 10u;
}`
	got := launchCode(t, testkit.GLSL(t, source, "-O0"), 1, []byte{4, 0, 0, 0, 2, 0, 0, 0}, make([]byte, 128))[1]
	for i := range 8 {
		want := []uint32{11, 10, 10, 10, 0, 0, 0, 0}[i]
		if g := word(got, i); g != want {
			t.Errorf("y[%d] is %d, want %d", i, g, want)
		}
	}
}

// TestPartialFall has invocations leave a case of a switch that falls through. They take no
// part in the next case.
func TestPartialFall(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
void main() {
	uint g = gl_GlobalInvocationID.x;
	switch (x[0]) {
	case 1u:
		y[g] = 1u;
		if (x[g] > 6u) break;
	case 2u:
		y[g] += 10u;
	}
	y[g] += 100u;
}`
	got := launchCode(t, testkit.GLSL(t, source, "-O"), 1, []byte{1, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0}, make([]byte, 16))[1]
	for i := range 4 {
		if g, want := word(got, i), []uint32{111, 101, 101, 111}[i]; g != want {
			t.Errorf("y[%d] is %d, want %d", i, g, want)
		}
	}
}

// TestPrivateAfterReturn stores to an array of each invocation that is the same in all that
// are left, when the first of the vector has returned.
func TestPrivateAfterReturn(t *testing.T) {
	const source = `#version 450
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
uint a[4] = { 0u, 1u, 2u, 3u };
void main() {
	uint g = gl_GlobalInvocationID.x;
	if (g < x[0]) return;
	a[x[0]] = x[1];
	y[g] = a[x[0]] + 100u * subgroupBroadcast(g, x[g] % 4u);
}`
	got := launchCode(t, testkit.GLSL(t, source, "-O0", "--target-env=vulkan1.2"), 1, []byte{1, 0, 0, 0, 7, 0, 0, 0, 11, 0, 0, 0, 3, 0, 0, 0}, make([]byte, 16))[1]
	for i := range 4 {
		if g, want := word(got, i), []uint32{0, 307, 307, 307}[i]; g != want {
			t.Errorf("y[%d] is %d, want %d", i, g, want)
		}
	}
}
