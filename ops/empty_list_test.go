package ops_test

import (
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestEmptyLists gives operations an empty list in place of one that is left out. Both mean the same: a program may have
// made a list without numbers.
func TestEmptyLists(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		in := []*tensor.Host{host(tensor.F32, []int{2, 3}, 1, 2, 3, 4, 5, 6)}
		for _, c := range []struct {
			call spec.Call
			want *tensor.Host
		}{
			{ops.Transpose{Perm: []int{}}, host(tensor.F32, []int{3, 2}, 1, 4, 2, 5, 3, 6)},
			{ops.Slice{Start: []int{0, 1}, Size: []int{2, 2}, Step: []int{}}, host(tensor.F32, []int{2, 2}, 2, 3, 5, 6)},
		} {
			expectCall(t, r, dev, spec.WithDefaults(c.call), in, []*tensor.Host{c.want})
		}
	})
}
