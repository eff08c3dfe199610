package cpu_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testkit"
)

// TestHeadOfLoop stores and loads in the head of a loop, which runs once more than the
// loop's rounds. The last time it is outside of the buffer.
func TestHeadOfLoop(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(binding = 2) readonly buffer N { uint count[]; };
void main() {
	uint lane = gl_LocalInvocationID.x;
	float s = 0;
	uint n = count[0];
	for (uint i = 0; HEAD, i < n; i += 1u) { s += float(i); x[i * 64 + lane] = s; }
	x[lane] = s;
}`
	ones := make([]float32, 256)
	for i := range ones {
		ones[i] = 1
	}
	x, y := float32s(ones...), float32s(ones...)
	got := launchCode(t, testkit.GLSL(t, strings.ReplaceAll(source, "HEAD", "x[i * 64 + lane] = 7"), "-O"), 1, x, y, []byte{4, 0, 0, 0})
	if !slices.Equal(got[1], y) {
		t.Error("a store is in another buffer")
	}
	ones[0], ones[1], ones[2], ones[3] = 9, 9, 9, 9
	got = launchCode(t, testkit.GLSL(t, strings.ReplaceAll(source, "HEAD", "s = x[i * 64 + lane]"), "-O"), 1, x, float32s(ones...), []byte{4, 0, 0, 0})
	if number(got[0], 0) == 9 {
		t.Error("a load is of another buffer")
	}
}

// TestFarApart accesses a buffer at constant distances of almost 2^32 bytes from each other,
// at addresses that are inside of it.
func TestFarApart(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
void main() {
	uint g = gl_GlobalInvocationID.x + gl_WorkGroupID.x * 0xe0000000u;
	y[gl_GlobalInvocationID.x] = x[g + 0x1ffffffeu] + x[g + 0x20000001u];
}`
	x := make([]float32, 256)
	for i := range x {
		x[i] = float32(i)
	}
	got := launchGLSL(t, source, 2, float32s(x...), make([]byte, 4*128))
	for i := 64; i < 128; i++ {
		if want := x[i-2] + x[i+1]; number(got[1], i) != want {
			t.Fatalf("y[%d] = %v, want %v", i, number(got[1], i), want)
		}
	}
}
