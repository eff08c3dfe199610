package compile

import (
	"os"
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// TestFindHalves wants one instruction of each function of shaders/lib/halves.glsl, and none of what
// differs from them a little. TestHalfFunctions in package cpu compares what they compute.
func TestFindHalves(t *testing.T) {
	testlevel.Turn(t, 5)
	lib, err := os.ReadFile("../../../shaders/lib/halves.glsl")
	if err != nil {
		t.Fatal(err)
	}
	const none = -1
	for source, want := range map[string]int{
		"addHalves(x, y)": halvesAdd, "addHalves(x, 0x30002)": halvesAdd, "addHalves(5, y)": halvesAdd,
		"subHalves(x, y)": halvesSub, "subHalves(0x30002, y)": halvesSub, "subHalves(x, 0x30002)": halvesAdd,
		"mulHalves(x, y)": halvesMul, "mulHalves(x, 0x50005)": halvesMul,
		"minHalves(x, y)": halvesMin, "minHalves(x, 0xff00ff)": halvesMin, "maxHalves(x, y)": halvesMax, "maxHalves(x, 0)": halvesMax,
		"dotHalves(x, y)": halvesDot, "dotHalves(x, 0x3fff0)": halvesDot, "dotHalves(x, 3)": halvesDot, "dotHalves(x, 0x30000)": halvesDot,
		"sumsOfBytes(x) ^ y": halvesOfBytes, "int(((uint(x) >> 8) & 0xff00ffu) + (uint(x) & 0xff00ffu)) ^ y": halvesOfBytes,

		"joined(x + 0x30001, x + 2)": none, "joined(x + (y & UPPER), x - y)": none, "joined(y - (x & UPPER), x - y)": none,
		"joined(x + (x & UPPER), x + y)": none, "joined(x + (y & 0xffff8000), x + y)": none,
		"bitfieldInsert(x + (y & UPPER), x + y, 0, 15)": none, "bitfieldInsert(x - (y & UPPER), x - y, 1, 16)": none,
		"joined((x >> 15) * (y & UPPER), x * y)": none, "joined(int(uint(x) >> 16) * (y & UPPER), x * y)": none,
		"joined(min(x, y), max(lowHalf(x), lowHalf(y)))": none, "joined(min(x, y), min(y, lowHalf(x)))": none,
		"joined(int(min(uint(x), uint(y))), int(min(uint(lowHalf(x)), uint(lowHalf(y)))))": none,
		"joined(min(x, 0x10002), min(lowHalf(x), 3))":                                      none,
		"lowHalf(x) * 0x8000": none, "lowHalf(x) * lowHalf(y) + (x >> 16) * (x >> 16)": none, "(x >> 15) * 5 ^ y": none,
		"(x & 0xff00ff) + ((y >> 8) & 0xff00ff)": none, "(x & 0xff00ff) + ((x >> 7) & 0xff00ff) ^ y": none,
		"(x & 0xff00ff) + ((x >> 8) & 0xff01ff) ^ y": none, "(x & 0xff00ff) - ((x >> 8) & 0xff00ff) ^ y": none,
	} {
		m, err := spv.Parse("test", testkit.GLSL(t, "#version 450\nlayout(local_size_x = 64) in;\n"+string(lib)+`
layout(set = 0, binding = 0) buffer R { int r[]; };
void main() {
	uint i = gl_GlobalInvocationID.x;
	int x = r[i], y = r[i + 64];
	r[i] = `+source+`;
}`))
		if err != nil {
			t.Fatal(err)
		}
		p, err := spv.Program(m)
		if err != nil {
			t.Fatal(err)
		}
		p.Inline()
		improve(p)
		var found []int
		for _, b := range p.Entry.Blocks {
			for _, v := range b.Values {
				if v.Op == ir.Halves {
					found = append(found, int(v.Literals[0]))
				}
			}
		}
		if want == none && len(found) != 0 || want != none && (len(found) != 1 || found[0] != want) {
			t.Errorf("%s: found %v, want %d", source, found, want)
		}
	}
}
