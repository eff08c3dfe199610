//go:build cgo

package spv_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Loops that ask to be unrolled and whose values are joined behind them, which
// SwiftShader's compiler crashes on unless Guard takes the hint away.
func TestUnrolledLoops(t *testing.T) {
	const loop = `OpBranch %head
%head = OpLabel
%i = OpPhi %u32 %0 %entry %iNext %next
%v = OpPhi %u32 %g %entry LATCH %next
OpLoopMerge %done %next CONTROL
OpBranch %test
%test = OpLabel
%c = OpULessThan %bool %i %3
OpBranchConditional %c %body %done
%body = OpLabel
%w = OpIAdd %u32 %v %i
OpBranch %next
%next = OpLabel
%iNext = OpIAdd %u32 %i %1
OpBranch %head
%done = OpLabel
%r = OpPhi %u32 %v %test`
	var list []danger
	for _, control := range []string{"0", "1", "2"} {
		for latch, want := range map[string]uint32{"%w": 3, "%3": 3, "%v": 0, "%a": 7} {
			list = append(list, danger{name: fmt.Sprintf("control %s, latch %s", control, latch), x: []uint32{7},
				body: strings.NewReplacer("CONTROL", control, "LATCH", latch).Replace(loop), want: first(want)})
		}
	}
	lines := strings.NewReplacer("OpLabel\n", "OpLabel\nOpNoLine\n").Replace // between a label and its phi
	for _, d := range list {
		if strings.HasPrefix(d.name, "control 1") {
			d.name, d.body = d.name+", lines", lines(d.body)
			list = append(list, d)
		}
	}
	brave(t, list, 20*time.Second)
}
