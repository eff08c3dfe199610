package cpu_test

import (
	"encoding/binary"
	"testing"
)

// TestHalves checks the products of the halves of words, which the compiler makes one
// instruction: with signs, with sums that leave 32 bits, and with the same word in all lanes.
func TestHalves(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { int a[]; };
layout(set = 0, binding = 1) readonly buffer B { int b[]; };
layout(set = 0, binding = 2) writeonly buffer C { int c[]; };
int products(int a, int b) { return bitfieldExtract(a, 0, 16) * bitfieldExtract(b, 0, 16) + (a >> 16) * (b >> 16); }
void main() {
	uint i = gl_GlobalInvocationID.x;
	c[i] = products(a[i], b[i]);
	c[64 + i] = products(a[i], b[0]);
	c[128 + i] = products(a[3], b[1]);
	// Not the products of halves: these must not become one.
	c[192 + i] = bitfieldExtract(a[i], 0, 16) * bitfieldExtract(b[i], 0, 16) + (a[i] >> 16) * (a[i] >> 16);
	c[256 + i] = bitfieldExtract(a[i], 0, 15) * bitfieldExtract(b[i], 0, 16) + (a[i] >> 16) * (b[i] >> 16);
}
`
	half := []int32{0, 1, -1, 32767, -32768, 12345, -23456, 255}
	var a, b [64]int32
	for i := range a {
		a[i] = half[i%8]&0xffff | half[i/8]<<16
		b[i] = half[(i*5+4)%8]&0xffff | half[(i/8*3+4)%8]<<16
	}
	word := func(list ...int32) (out []byte) {
		for _, x := range list {
			out = binary.LittleEndian.AppendUint32(out, uint32(x))
		}
		return out
	}
	products := func(a, b int32) int32 { return int32(int16(a))*int32(int16(b)) + (a>>16)*(b>>16) }
	got := launchGLSL(t, source, 1, word(a[:]...), word(b[:]...), make([]byte, 5*256))[2]
	for i := range a {
		low := a[i] << 17 >> 17
		for k, want := range []int32{
			products(a[i], b[i]), products(a[i], b[0]), products(a[3], b[1]),
			int32(int16(a[i]))*int32(int16(b[i])) + (a[i]>>16)*(a[i]>>16), low*int32(int16(b[i])) + (a[i]>>16)*(b[i]>>16),
		} {
			if x := int32(binary.LittleEndian.Uint32(got[256*k+4*i:])); x != want {
				t.Errorf("%d: %#x and %#x: got %d, want %d", k, uint32(a[i]), uint32(b[i]), x, want)
			}
		}
	}
}
