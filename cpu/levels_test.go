package cpu_test

import (
	"encoding/binary"
	"math"
	"testing"
)

// TestPackLevels checks words that are put together of limited integers, which the compiler
// makes by narrowing vectors: in the order of the bytes and in another one, beside other bits,
// the same for all lanes, and some that must not be made so.
func TestPackLevels(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer A { int a[]; };
layout(binding = 1) readonly buffer B { int b[]; };
layout(binding = 2) writeonly buffer C { uint c[]; };
uint limit(int x) { return uint(clamp(x, 0, 255)); }
void main() {
	uint i = gl_GlobalInvocationID.x, n = 256u;
	int x = a[i], y = b[i], z = x ^ y;
	c[i] = limit(x) | limit(y) << 8 | limit(z) << 16;
	c[n + i] = uint(x) & 0xff000000u | (limit(z) << 16 | limit(y) << 8 | limit(x));
	c[2u * n + i] = limit(a[3]) | limit(b[3]) << 8 | limit(a[17]) << 16;
	c[3u * n + i] = limit(x) | limit(a[3]) << 8 | limit(17) << 16;
	c[4u * n + i] = limit(x) | limit(y) << 8 | limit(z) << 16 | limit(x + y) << 24;
	// These have other limits, other places or a level too many.
	c[5u * n + i] = uint(clamp(x, 0, 254)) | limit(y) << 8 | limit(z) << 16;
	c[6u * n + i] = uint(clamp(x, 1, 255)) | limit(y) << 8 | limit(z) << 16;
	c[7u * n + i] = limit(x) | limit(y) << 7 | limit(z) << 16;
	c[8u * n + i] = limit(x) | limit(y) << 8 | limit(z) << 8;
	c[9u * n + i] = min(uint(x), 255u) | limit(y) << 8 | limit(z) << 16;
}`
	list := [16]int32{0, 1, -1, 127, 128, 254, 255, 256, 257, 32767, 32768, -32769, 65535, 1 << 20, math.MaxInt32, math.MinInt32}
	var a, b []byte
	var xs, ys []int32
	for _, x := range list {
		for _, y := range list {
			xs, ys = append(xs, x), append(ys, y)
			a, b = binary.LittleEndian.AppendUint32(a, uint32(x)), binary.LittleEndian.AppendUint32(b, uint32(y))
		}
	}
	clamp := func(x, low, high int32) uint32 { return uint32(min(max(x, low), high)) }
	limit := func(x int32) uint32 { return clamp(x, 0, 255) }
	got := launchGLSL(t, source, 4, a, b, make([]byte, 10*1024))[2]
	for i, x := range xs {
		y := ys[i]
		z := x ^ y
		for k, want := range []uint32{
			limit(x) | limit(y)<<8 | limit(z)<<16,
			uint32(x)&0xff000000 | limit(z)<<16 | limit(y)<<8 | limit(x),
			limit(xs[3]) | limit(ys[3])<<8 | limit(xs[17])<<16,
			limit(x) | limit(xs[3])<<8 | 17<<16,
			limit(x) | limit(y)<<8 | limit(z)<<16 | limit(x+y)<<24,
			clamp(x, 0, 254) | limit(y)<<8 | limit(z)<<16,
			clamp(x, 1, 255) | limit(y)<<8 | limit(z)<<16,
			limit(x) | limit(y)<<7 | limit(z)<<16,
			limit(x) | limit(y)<<8 | limit(z)<<8,
			min(uint32(x), 255) | limit(y)<<8 | limit(z)<<16,
		} {
			if w := binary.LittleEndian.Uint32(got[1024*k+4*i:]); w != want {
				t.Errorf("word %d of %d and %d: got %#08x, want %#08x", k, x, y, w, want)
			}
		}
	}
}
