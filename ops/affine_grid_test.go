package ops_test

import (
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestAffineGridExamples has grids that were worked out by hand.
func TestAffineGridExamples(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			call     ops.AffineGrid
			theta    []int
			values   []float64
			out      []int
			expected []float64
		}{
			// No change, over two axes: x comes first and belongs to the last axis.
			{ops.AffineGrid{Size: []int{2, 4}}, []int{1, 2, 3}, []float64{1, 0, 0, 0, 1, 0}, []int{1, 2, 4, 2},
				[]float64{-0.75, -0.5, -0.25, -0.5, 0.25, -0.5, 0.75, -0.5, -0.75, 0.5, -0.25, 0.5, 0.25, 0.5, 0.75, 0.5}},
			{ops.AffineGrid{Size: []int{2, 3}, AlignCorners: true}, []int{1, 2, 3}, []float64{1, 0, 0, 0, 1, 0}, []int{1, 2, 3, 2},
				[]float64{-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1}},
			// A quarter of a turn, a scale and a translation. One point of an axis is at 0.
			{ops.AffineGrid{Size: []int{1, 3}, AlignCorners: true}, []int{2, 2, 3}, []float64{0, -1, 0, 1, 0, 0, 2, 0, 3, 0, 5, -4}, []int{2, 1, 3, 2},
				[]float64{0, -1, 0, 0, 0, 1, 1, -4, 3, -4, 5, -4}},
			{ops.AffineGrid{Size: []int{2, 1, 2}}, []int{1, 3, 4}, []float64{1, 0, 0, 0, 0, 1, 0, 7, 8, 0, 2, 1}, []int{1, 2, 1, 2, 3},
				[]float64{-0.5, 7, -4, 0.5, 7, 4, -0.5, 7, -2, 0.5, 7, 6}},
		} {
			expectNear(t, r, dev, c.call, []*tensor.Host{host(tensor.F32, c.theta, c.values...)}, []*tensor.Host{host(tensor.F32, c.out, c.expected...)}, 2e-6)
		}
	})
}
