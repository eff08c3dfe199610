package ops_test

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestGridSampleExamples has the examples of the specification of ONNX whose results are exact, and places that were
// worked out by hand: ties, places far outside, and numbers that are not finite.
func TestGridSampleExamples(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	square := []float64{0, 1, 2, 3, 4, 5}
	several := []float64{-1, -0.8, -0.6, -0.5, -0.1, -0.2, 0.7, 0, 0, 0.4, 0.2, -0.2, -0.3, 0.5, -1, 1}
	volume := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	places := []float64{
		-1, -1, -1, -1, -0.5, 0.3, -0.5, -0.5, -0.5, 1, -0.6, -1, -0.2, -0.2, -0.2, 0.4, 0.2, 0.6, 0, 0, 0, -1, 0, 0,
		0, 0, 0, -1, 1, 0, -0.2, -0.2, -0.2, 1, 0.4, -0.2, 0.5, 0.5, 0.5, -1, -0.8, 0.8, 1, 1, 1, 0.4, 0.6, -0.3,
	}
	outside := []float64{-10, -10, -5, -5, -0.2, -0.2, 10, 10, 10, 10, -0.2, -0.2, 5, 5, 10, 10}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			call      ops.GridSample
			x         []int
			values    []float64
			grid      []int
			places    []float64
			out       []int
			expected  []float64
			tolerance float64
		}{
			{ops.GridSample{}, []int{1, 1, 3, 2}, square, []int{1, 2, 4, 2}, outside, []int{1, 1, 2, 4}, []float64{0, 0, 1.7, 0, 0, 1.7, 0, 0}, 1e-6},
			{ops.GridSample{Padding: "border"}, []int{1, 1, 3, 2}, square, []int{1, 2, 4, 2}, outside, []int{1, 1, 2, 4}, []float64{0, 0, 1.7, 5, 5, 1.7, 5, 5}, 1e-6},
			{ops.GridSample{Padding: "reflection"}, []int{1, 1, 3, 2}, square, []int{1, 2, 4, 2}, outside, []int{1, 1, 2, 4}, []float64{2.5, 0, 1.7, 2.5, 2.5, 1.7, 5, 2.5}, 1e-6},
			{ops.GridSample{Mode: "nearest"}, []int{1, 1, 3, 2}, square, []int{1, 2, 4, 2}, []float64{-1, -1, -0.5, -0.5, -0.2, -0.2, 0, 0, 0, 0, -0.2, -0.2, 0.5, 0.5, 1, 1},
				[]int{1, 1, 2, 4}, []float64{0, 0, 2, 2, 2, 2, 5, 0}, 0},
			{ops.GridSample{Mode: "cubic"}, []int{1, 1, 3, 2}, square, []int{1, 2, 4, 2}, []float64{-1, -1, -0.5, -0.5, -0.2, -0.2, 0, 0, 0, 0, -0.2, -0.2, 0.5, 0.5, 1, 1},
				[]int{1, 1, 2, 4}, []float64{-0.1406, 0.3828, 1.7556, 2.9688, 2.9688, 1.7556, 5.1445, 1.3906}, 6e-5},
			{ops.GridSample{Mode: "nearest", AlignCorners: true}, []int{1, 1, 3, 2}, square, []int{1, 2, 4, 2}, several, []int{1, 1, 2, 4}, []float64{0, 0, 2, 3, 2, 3, 4, 4}, 0},
			{ops.GridSample{AlignCorners: true}, []int{1, 1, 3, 2}, square, []int{1, 2, 4, 2}, several, []int{1, 1, 2, 4}, []float64{0.4, 1.2, 2.05, 2.85, 3.3, 2.2, 3.35, 4}, 1e-6},
			{ops.GridSample{Mode: "cubic", AlignCorners: true}, []int{1, 1, 3, 2}, square, []int{1, 2, 4, 2}, several,
				[]int{1, 1, 2, 4}, []float64{0.304001, 1.12875, 2.26627, 3.144844, 4.5315, 2.45536, 4.599819, 4}, 2e-6},
			{ops.GridSample{}, []int{1, 1, 3, 2, 2}, volume, []int{1, 2, 4, 2, 3}, places,
				[]int{1, 1, 2, 4, 2}, []float64{0.125, 3.4, 2, 0.45, 4.7, 10.9, 6.5, 3, 6.5, 1.75, 4.7, 3.3, 11, 2.52, 1.5, 5.49}, 2e-6},
			{ops.GridSample{AlignCorners: true}, []int{1, 1, 3, 2, 2}, volume, []int{1, 2, 4, 2, 3}, places,
				[]int{1, 1, 2, 4, 2}, []float64{1, 6.7, 3.75, 2.4, 5.4, 9.3, 6.5, 6, 6.5, 7, 5.4, 6.6, 9.25, 8.4, 12, 6.1}, 2e-6},
			// Ties are at 0.5, 1.5, 2.5, and at the edges -0.5 and 3.5.
			{ops.GridSample{Mode: "nearest"}, []int{1, 1, 4}, []float64{1, 2, 3, 4}, []int{1, 5, 1}, []float64{-1, -0.5, 0, 0.5, 1}, []int{1, 1, 5}, []float64{1, 1, 3, 3, 0}, 0},
			{ops.GridSample{Mode: "nearest", Padding: "reflection"}, []int{1, 1, 4}, []float64{1, 2, 3, 4}, []int{1, 7, 1}, []float64{-1, 1, 1.5, -1.5, 2, 1e30, -3e38},
				[]int{1, 1, 7}, []float64{1, 4, 4, 2, 2, 3, 3}, 0},
			// An element and half of one beyond the last one is the last one: elements repeat at the edge, but not with align_corners.
			{ops.GridSample{Padding: "reflection"}, []int{1, 1, 4}, []float64{1, 2, 3, 4}, []int{1, 4, 1}, []float64{1.25, -1.25, 1e30, 4.25}, []int{1, 1, 4}, []float64{4, 1, 2.5, 3}, 0},
			{ops.GridSample{Padding: "reflection", AlignCorners: true}, []int{1, 1, 3}, []float64{1, 2, 4}, []int{1, 4, 1}, []float64{1.5, -1.5, 1e30, 3}, []int{1, 1, 4}, []float64{3, 1.5, 2, 1}, 0},
			{ops.GridSample{Mode: "cubic", Padding: "reflection", AlignCorners: true}, []int{1, 1, 1}, []float64{7}, []int{1, 3, 1}, []float64{0.3, 9, -1e30}, []int{1, 1, 3}, []float64{7, 7, 7}, 0},
			{ops.GridSample{}, []int{1, 1, 2}, []float64{3, inf}, []int{1, 5, 1}, []float64{-0.5, inf, -inf, nan, 1e30}, []int{1, 1, 5}, []float64{3, 0, 0, nan, 0}, 0},
			{ops.GridSample{Padding: "border"}, []int{1, 1, 2}, []float64{3, 5}, []int{1, 5, 1}, []float64{-1e30, inf, -inf, nan, 1e30}, []int{1, 1, 5}, []float64{3, 5, 3, nan, 5}, 0},
			{ops.GridSample{Mode: "nearest", Padding: "reflection"}, []int{1, 1, 2}, []float64{3, 5}, []int{1, 3, 1}, []float64{inf, -inf, nan}, []int{1, 1, 3}, []float64{nan, nan, nan}, 0},
			// The centre of eight elements, and the first of them.
			{ops.GridSample{}, []int{1, 1, 2, 2, 2}, []float64{1, 2, 3, 4, 5, 6, 7, 16}, []int{1, 1, 1, 3, 3}, []float64{0, 0, 0, -0.5, -0.5, -0.5, 0.5, -0.5, -0.5}, []int{1, 1, 1, 1, 3}, []float64{5.5, 1, 2}, 0},
		} {
			expectNear(t, r, dev, c.call, []*tensor.Host{host(tensor.F32, c.x, c.values...), host(tensor.F32, c.grid, c.places...)}, []*tensor.Host{host(tensor.F32, c.out, c.expected...)}, c.tolerance)
		}
	})
}
