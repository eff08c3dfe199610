//go:build cgo

package spv_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testgpu/committed"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// What Guard mends of one import of the set GLSL.std.450, it mends of all.
func TestTwoImports(t *testing.T) {
	const again = `%set = OpExtInstImport "GLSL.std.450"`
	list := []danger{
		{name: "ldexp by 64 bits", caps: "OpCapability 11\n" + again, types: "%u64 = OpTypeInt 64 0\n%f3 = OpConstant %f32 0x40400000",
			body: "%e = OpUConvert %u64 %a\n%f = OpExtInst %f32 %glsl 53 %f3 %e\n%r = OpConvertFToU %u32 %f", x: []uint32{2}, want: first(12), refused: narrow(64)},
		{name: "upper half", caps: again, types: "%v2f = OpTypeVector %f32 2\n%con = OpConstant %u32 0x3328b5a5",
			body: "%h = OpExtInst %v2f %glsl 62 %con\n%hy = OpCompositeExtract %f32 %h 1\n%r = OpBitcast %u32 %hy", x: []uint32{0}, want: first(0x3e650000)},
	}
	brave(t, list, 20*time.Second)
}

// Lines of the source between any two instructions of a module change nothing of what
// becomes of it.
func TestLinesChangeNothing(t *testing.T) {
	testlevel.Turn(t, 5)
	const (
		opString, opLine, opEntryPoint, opExecutionMode, opFunction, opLoopMerge, opSelectionMerge, opNoLine = 7, 8, 15, 16, 54, 246, 247, 317
	)
	rng := rand.New(rand.NewPCG(3, 1))
	for _, k := range committed.Kernels(t) {
		name := k.Name
		if len(k.Code) > 12<<10 {
			continue
		}
		bound := binary.LittleEndian.Uint32(k.Code[12:])
		plain := slices.Clone(k.Code[:20])
		binary.LittleEndian.PutUint32(plain[12:], bound+1)
		lines := slices.Clone(plain)
		file, before := false, uint32(0)
		for at := 20; at < len(k.Code); {
			w := binary.LittleEndian.Uint32(k.Code[at:])
			op, n := w&0xffff, int(w>>16)*4
			if !file && op != opEntryPoint && op != opExecutionMode && (before == opEntryPoint || before == opExecutionMode) {
				file = true
				text := testkit.Words(3<<16|opString, bound, 'x')
				plain, lines = append(plain, text...), append(lines, text...)
			}
			if file && before != opLoopMerge && before != opSelectionMerge && (op >= opFunction || before >= 19 && before <= 52) {
				if rng.IntN(2) == 0 {
					lines = append(lines, testkit.Words(1<<16|opNoLine)...)
				}
				lines = append(lines, testkit.Words(4<<16|opLine, bound, 7, 1)...)
			}
			plain, lines = append(plain, k.Code[at:at+n]...), append(lines, k.Code[at:at+n]...)
			before = op
			at += n
		}
		var done [2][2][]byte
		for i, code := range [][]byte{plain, lines} {
			m, err := spv.Parse("", code)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			g, err := spv.Guard(m)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			done[i][0] = g.Code
			if l, err := spv.Lower(g, false); err == nil {
				done[i][1] = l.Code
			}
		}
		if !bytes.Equal(done[0][0], done[1][0]) || !bytes.Equal(done[0][1], done[1][1]) {
			t.Errorf("%s: lines of the source change the module", name)
		}
	}
}
