package ops_test

import (
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestCol2ImExamples has the examples of the specification of ONNX.
func TestCol2ImExamples(t *testing.T) {
	// counted are the numbers from 1 on, taps of one window side by side.
	counted := func(taps, windows int) []float64 {
		v := make([]float64, taps*windows)
		for i := range v {
			v[i] = float64(i%windows*taps + i/windows + 1)
		}
		return v
	}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			call     ops.Col2Im
			in       []int
			values   []float64
			out      []int
			expected []float64
		}{
			{
				ops.Col2Im{ImageShape: []int{5, 5}, BlockShape: []int{1, 5}},
				[]int{1, 5, 5}, counted(5, 5), []int{1, 1, 5, 5}, counted(25, 1),
			},
			{
				ops.Col2Im{ImageShape: []int{5, 5}, BlockShape: []int{3, 3}, Strides: []int{2, 2}}, []int{1, 9, 4},
				[]float64{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0},
				[]int{1, 1, 5, 5}, []float64{0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 2, 1, 2, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0},
			},
			{
				ops.Col2Im{ImageShape: []int{5, 5}, BlockShape: []int{1, 5}, Pads: []int{0, 1, 0, 1}}, []int{1, 5, 15}, counted(5, 15), []int{1, 1, 5, 5},
				[]float64{8, 21, 24, 27, 24, 38, 66, 69, 72, 54, 68, 111, 114, 117, 84, 98, 156, 159, 162, 114, 128, 201, 204, 207, 144},
			},
			{
				ops.Col2Im{ImageShape: []int{6, 6}, BlockShape: []int{2, 2}, Dilations: []int{1, 5}}, []int{1, 4, 5}, counted(4, 5), []int{1, 1, 6, 6},
				[]float64{1, 0, 0, 0, 0, 2, 8, 0, 0, 0, 0, 10, 16, 0, 0, 0, 0, 18, 24, 0, 0, 0, 0, 26, 32, 0, 0, 0, 0, 34, 19, 0, 0, 0, 0, 20},
			},
			{
				ops.Col2Im{ImageShape: []int{3, 4, 5}, BlockShape: []int{1, 1, 5}},
				[]int{1, 10, 12}, append(counted(5, 12), counted(5, 12)...), []int{1, 2, 3, 4, 5}, append(counted(60, 1), counted(60, 1)...),
			},
		} {
			expectCall(t, r, dev, c.call, []*tensor.Host{host(tensor.F32, c.in, c.values...)}, []*tensor.Host{host(tensor.F32, c.out, c.expected...)})
		}
	})
}
