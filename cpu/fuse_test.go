package cpu_test

import (
	"encoding/binary"
	"math"
	"testing"
)

// TestFuse compares the results of what the compiler makes minima, maxima, sums and
// comparisons with those of Go, for all pairs of numbers that could differ.
func TestFuse(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) writeonly buffer C { float c[]; };
layout(binding = 3) writeonly buffer D { uint d[]; };
void main() {
	uint i = gl_GlobalInvocationID.x, n = 256u;
	float x = a[i], y = b[i];
	c[i] = mix(y, x, x < y);
	c[n + i] = mix(x, y, x < y);
	c[2u * n + i] = mix(y, x, x > y);
	c[3u * n + i] = mix(x, y, x > y);
	c[4u * n + i] = mix(1.0, x, x < 1.0);
	c[5u * n + i] = mix(x, 0.0, x < 0.0);
	c[6u * n + i] = mix(y, x, x <= y);
	c[7u * n + i] = x - 1.5;
	d[i] = (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u ? 1u : 0u;
	d[n + i] = (floatBitsToUint(x) & 0x7fffffffu) >= 0x7f800000u ? 1u : 0u;
}`
	zero, least := float32(0), float32(math.SmallestNonzeroFloat32)
	list := [16]float32{float32(math.NaN()), math.Float32frombits(0xffc00123), zero, -zero, 1, -1, 1.5, -1.5, least, -least,
		float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32, 0x1p-127, 3}
	list[3] = math.Float32frombits(1 << 31) // Go has no constant −0
	var a, b []float32
	for _, x := range list {
		for _, y := range list {
			a, b = append(a, x), append(b, y)
		}
	}
	choose := func(c bool, yes, no float32) float32 {
		if c {
			return yes
		}
		return no
	}
	got := launchGLSL(t, source, 4, float32s(a...), float32s(b...), make([]byte, 8*1024), make([]byte, 2*1024))
	for i := range a {
		x, y := a[i], b[i]
		for k, want := range []float32{
			choose(x < y, x, y), choose(x < y, y, x), choose(x > y, x, y), choose(x > y, y, x),
			choose(x < 1, x, 1), choose(x < 0, 0, x), choose(x <= y, x, y), x - 1.5,
		} {
			bits, wanted := binary.LittleEndian.Uint32(got[2][4*(256*k+i):]), math.Float32bits(want)
			if bits != wanted && (want == want || k < 7) {
				t.Errorf("expression %d of %v and %v: got %#x, want %#x", k, x, y, bits, wanted)
			}
			if z := math.Float32frombits(bits); want != want && z == z {
				t.Errorf("expression %d of %v and %v: got %v, want NaN", k, x, y, z)
			}
		}
		for k, want := range []bool{x != x, x != x || math.IsInf(float64(x), 0)} {
			if bits := binary.LittleEndian.Uint32(got[3][4*(256*k+i):]); bits == 1 != want || bits > 1 {
				t.Errorf("comparison %d of the bits of %v: got %d, want %v", k, x, bits, want)
			}
		}
	}
}
