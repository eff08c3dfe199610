package ops_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestFirstIndexIsReported looks rows up by numbers of which some are wrong: near
// each other, in different invocations, and in different parts of an operand that
// tiny limits split. The error must name the first.
func TestFirstIndexIsReported(t *testing.T) {
	const rows = 9
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			n   int
			bad []int
		}{
			{1, []int{0}}, {5, []int{4, 3}}, {4099, []int{4098}}, {4099, []int{64, 4000, 255}},
			{70_001, []int{70_000}}, {70_001, []int{66_000, 65_999, 69_000}},
			{600_000, []int{599_999}}, {600_000, []int{262_144, 500_000}}, {600_000, []int{599_998, 1}}, {600_000, nil},
		} {
			for _, d := range []tensor.DType{tensor.I32, tensor.I64} {
				indices := tensor.NewHost(tensor.Contiguous(d, c.n))
				values, want := make([]float64, c.n), ""
				for i := range values {
					values[i] = float64(i % rows)
				}
				first := c.n
				for _, i := range c.bad {
					values[i] = float64(-1 - i)
					first = min(first, i)
				}
				indices.SetFloats(values)
				if first < c.n {
					want = fmt.Sprintf("index %d at position %d (want 0 to %d)", -1-first, first, rows-1)
				}
				lookUp(t, r, dev, indices, rows, want)
			}
		}
	})
}

// lookUp looks bytes up in a table of one column, and compares the error.
func lookUp(t *testing.T, r *exec.Runner, dev gpu.Device, indices *tensor.Host, rows int, want string) {
	t.Helper()
	n := indices.Shape[0]
	a, b, c := testgpu.Load(t, dev, indices.Data), testgpu.Load(t, dev, make([]byte, rows)), testgpu.Load(t, dev, make([]byte, n))
	in := []exec.Operand{{Buffer: a, Desc: indices.Desc}, {Buffer: b, Desc: tensor.Contiguous(tensor.U8, rows, 1)}}
	err := r.Run(t.Context(), ops.Embedding{}, in, []exec.Operand{{Buffer: c, Desc: tensor.Contiguous(tensor.U8, n, 1)}})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Sync(t.Context())
	if want == "" && err != nil || want != "" && (!errors.Is(err, gpu.ErrInvalidArgument) || !strings.Contains(err.Error(), want)) {
		t.Errorf("%v: got error %v, want %q", indices.Desc, err, want)
	}
	for _, h := range []gpu.Handle{a, b, c} {
		if err := dev.Free(h); err != nil {
			t.Error(err)
		}
	}
}
