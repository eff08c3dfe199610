package cpu_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
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

// TestHalfFunctions computes the functions of shaders/lib/halves.glsl, of which the compiler makes
// one instruction each, and such that differ from them a little. Operands have all signs, and
// results leave 16 bits. Each operand differs from lane to lane, or is the same in all, or a
// constant, or the number of the invocation.
func TestHalfFunctions(t *testing.T) {
	lib, err := os.ReadFile("../shaders/lib/halves.glsl")
	if err != nil {
		t.Fatal(err)
	}
	low := func(a int32) int32 { return int32(int16(a)) }
	join := func(high, low int32) int32 { return high&^0xffff | low&0xffff }
	upper := func(a int32) int32 { return a &^ 0xffff }
	const c, d = 0x0003fffe, -0x7ffd8000 // constants
	type function struct {
		glsl string
		want func(a, b int32) int32
	}
	sum := func(a int32) int32 { return a&0xff00ff + a>>8&0xff00ff }
	list := []function{
		{"addHalves(X, Y)", func(a, b int32) int32 { return join(a>>16<<16+b>>16<<16, low(a)+low(b)) }},
		{"subHalves(X, Y)", func(a, b int32) int32 { return join(a>>16<<16-b>>16<<16, low(a)-low(b)) }},
		{"mulHalves(X, Y)", func(a, b int32) int32 { return join((a>>16)*(b>>16)<<16, low(a)*low(b)) }},
		{"minHalves(X, Y)", func(a, b int32) int32 { return join(min(a>>16, b>>16)<<16, min(low(a), low(b))) }},
		{"maxHalves(X, Y)", func(a, b int32) int32 { return join(max(a>>16, b>>16)<<16, max(low(a), low(b))) }},
		{"dotHalves(X, Y)", func(a, b int32) int32 { return low(a)*low(b) + (a>>16)*(b>>16) }},
		{"sumsOfBytes(X) ^ Y", func(a, b int32) int32 { return sum(a) ^ b }},
		{"int(((uint(X) >> 8) & 0xff00ffu) + (uint(X) & 0xff00ffu)) ^ Y", func(a, b int32) int32 { return sum(a) ^ b }},
		{"joined(min(X, Y), min(Y, lowHalf(X)))", func(a, b int32) int32 { return join(min(a, b), min(b, low(a))) }},
		{"joined(max(X, Y), min(lowHalf(X), lowHalf(Y)))", func(a, b int32) int32 { return join(max(a, b), min(low(a), low(b))) }},
		{"joined(X + (Y & 0xffff8000), X + Y)", func(a, b int32) int32 { return join(a+b&^0x7fff, a+b) }},
		{"joined(X + (Y & UPPER), X - Y)", func(a, b int32) int32 { return join(a+upper(b), a-b) }},
		{"joined(Y - (X & UPPER), X - Y)", func(a, b int32) int32 { return join(b-upper(a), a-b) }},
		{"joined(X + (X & UPPER), X + Y)", func(a, b int32) int32 { return join(a+upper(a), a+b) }},
		{"joined((X >> 15) * (Y & UPPER), X * Y)", func(a, b int32) int32 { return join((a>>15)*upper(b), a*b) }},
		{"joined(int(uint(X) >> 16) * Y, X * Y)", func(a, b int32) int32 { return join(int32(uint32(a)>>16)*b, a*b) }},
		{"bitfieldInsert(X + (Y & UPPER), X + Y, 0, 15)", func(a, b int32) int32 { return (a+upper(b))&^0x7fff | (a+b)&0x7fff }},
		{"bitfieldInsert(X - (Y & UPPER), X - Y, 1, 16)", func(a, b int32) int32 { return (a-upper(b))&^0x1fffe | (a-b)&0xffff<<1 }},
		{"joined(X + 0x30001, X + 2)", func(a, b int32) int32 { return join(a+0x30001, a+2) }},
		{"(X & 0xff00ff) + ((Y >> 8) & 0xff00ff)", func(a, b int32) int32 { return a&0xff00ff + b>>8&0xff00ff }},
		{"(X & 0xff00ff) + ((X >> 7) & 0xff00ff) ^ Y", func(a, b int32) int32 { return (a&0xff00ff + a>>7&0xff00ff) ^ b }},
		{"(X & 0xff00ff) + ((X >> 8) & 0xff01ff) ^ Y", func(a, b int32) int32 { return (a&0xff00ff + a>>8&0xff01ff) ^ b }},
	}
	half := []int32{0, 1, -1, 32767, -32768, 12345, -23456, 255}
	var a, b [64]int32
	for i := range a {
		a[i] = half[i%8]&0xffff | half[i/8]<<16
		b[i] = half[(i*5+4)%8]&0xffff | half[(i/8*3+4)%8]<<16
	}
	operands := []struct {
		a, b string
		of   func(i int32) (a, b int32)
	}{
		{"a[i]", "b[i]", func(i int32) (int32, int32) { return a[i], b[i] }},
		{"a[i]", "b[3]", func(i int32) (int32, int32) { return a[i], b[3] }},
		{"a[5]", "b[1]", func(int32) (int32, int32) { return a[5], b[1] }},
		{"a[i]", "C", func(i int32) (int32, int32) { return a[i], c }},
		{"D", "b[i]", func(i int32) (int32, int32) { return d, b[i] }},
		{"int(i)", "b[i]", func(i int32) (int32, int32) { return i, b[i] }},
	}
	var s strings.Builder
	fmt.Fprintf(&s, "#version 450\nlayout(local_size_x = 64) in;\n%s", lib)
	fmt.Fprintf(&s, "const int C = %d, D = %d;\n", c, d)
	for i, name := range []string{"A { int a", "B { int b", "R { int r"} {
		fmt.Fprintf(&s, "layout(set = 0, binding = %d) buffer %s[]; };\n", i, name)
	}
	s.WriteString("void main() {\n\tuint i = gl_GlobalInvocationID.x;\n")
	n := 0
	for _, f := range list {
		for _, o := range operands {
			fmt.Fprintf(&s, "\tr[%d + i] = %s;\n", 64*n, strings.NewReplacer("X", o.a, "Y", o.b).Replace(f.glsl))
			n++
		}
	}
	s.WriteString("}\n")
	var ab [2][]byte
	for i := range a {
		ab[0] = binary.LittleEndian.AppendUint32(ab[0], uint32(a[i]))
		ab[1] = binary.LittleEndian.AppendUint32(ab[1], uint32(b[i]))
	}
	got := launchGLSL(t, s.String(), 1, ab[0], ab[1], make([]byte, 256*n))[2]
	n = 0
	for _, f := range list {
		for _, o := range operands {
			for i := range int32(64) {
				x, y := o.of(i)
				if g, want := int32(binary.LittleEndian.Uint32(got[256*n+4*int(i):])), f.want(x, y); g != want {
					t.Errorf("%s of %s = %#x and %s = %#x: got %#x, want %#x", f.glsl, o.a, uint32(x), o.b, uint32(y), uint32(g), uint32(want))
					break
				}
			}
			n++
		}
	}
}
