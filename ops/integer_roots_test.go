package ops_test

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// reduced is a tensor of integers that becomes one.
type reduced struct {
	d    tensor.DType
	x    []float64
	want float64
}

// expectReduced reduces tensors to one integer each.
func expectReduced(t *testing.T, call spec.Call, cases []reduced) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range cases {
			expectCall(t, r, dev, call, []*tensor.Host{host(c.d, []int{len(c.x)}, c.x...)}, []*tensor.Host{host(c.d, nil, c.want)})
		}
	})
}

// TestIntegerRoots checks that roots of integers are rounded down, also one below a square, and where a float would round up,
// and that they saturate.
func TestIntegerRoots(t *testing.T) {
	expectReduced(t, ops.ReduceL2{}, []reduced{
		{tensor.I32, []float64{3, -4}, 5}, {tensor.I32, []float64{2, -1}, 2}, {tensor.I32, nil, 0}, {tensor.U8, nil, 0},
		{tensor.U32, []float64{65535, 362, 5, 1}, 65535}, {tensor.U32, []float64{65535, 362, 5, 1, 1}, 65536}, // 65536² − 1, and 65536²
		{tensor.U8, []float64{200, 200}, 255}, {tensor.U8, []float64{200, 100}, 223}, {tensor.I8, []float64{-128}, 127}, {tensor.I8, []float64{-100, 20}, 101},
		{tensor.U16, []float64{65535, 361, 4, 2}, 65535}, {tensor.U16, []float64{65535, 65535}, 65535}, {tensor.I16, []float64{300, -400}, 500}, {tensor.I16, []float64{-32768}, 32767},
		{tensor.I32, []float64{math.MinInt32}, math.MaxInt32}, {tensor.I32, []float64{math.MinInt32 + 1}, math.MaxInt32}, {tensor.U32, []float64{math.MaxUint32}, math.MaxUint32},
		{tensor.U32, []float64{math.MaxUint32, 92681, 408, 19, 2}, math.MaxUint32}, // 2^64 − 1
		{tensor.I64, []float64{3 << 29, -4 << 29}, 5 << 29}, {tensor.U64, []float64{math.MaxUint32}, math.MaxUint32}, {tensor.U64, []float64{1 << 32, 7}, 7}, // the last one wraps
		{tensor.I64, []float64{-94906266, 0}, 94906266}, {tensor.I64, []float64{94906265, 13777, 82, 8, 3, 2}, 94906265},
	})
}
