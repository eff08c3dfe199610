package picture

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestTrimLoops counts the loops of image/trim in plans for pictures that are tall and narrow: lavapipe
// stops after so many.
func TestTrimLoops(t *testing.T) {
	const most = math.MaxUint16
	target := &spec.Target{
		MaxBinding: 128 << 20, MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024, OffsetAlign: 16, CPU: true, MaxIterations: most,
	}
	for _, size := range [][2]int{{6_000_000, 1}, {20_000_000, 1}, {9_000_000, 2}, {1, 20_000_000}, {300_000, 65}, {4000, 5000}} {
		plan, err := PlanTrim(target, tensor.Contiguous(tensor.U8, size[0], size[1], 4), Trim{})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for _, s := range plan.Steps {
			p, ok := s.Params.(trimParams)
			if !ok {
				continue
			}
			rows += int(p.Rows) * int(p.Columns)
			n, m := int(groups(int(p.Rows), int(s.Groups[0]))), int(groups(int(p.Columns), 64))
			if count := n*(m+2) + 2 + 64; count > most {
				t.Errorf("%v: a launch over %d×%d pixels counts %d iterations", size, p.Columns, p.Rows, count)
			}
		}
		if rows != size[0]*size[1] {
			t.Errorf("%v: %d pixels are looked at", size, rows)
		}
	}
}

// TestSumLoops counts the loops of image/resize_first as lavapipe does: rounds, and the tests that end them.
func TestSumLoops(t *testing.T) {
	for terms := range 1 << 16 {
		first := min(terms, 256)
		count, at := first+1, first
		for at < terms {
			n := min(terms-at, 256)
			count, at = count+1+n+1, at+n
		}
		if count += 2; count > sumLoops(terms) { // the last round is tested, and its loop is run without effect
			t.Fatalf("%d terms count %d, and sumLoops says %d", terms, count, sumLoops(terms))
		}
	}
}
