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

// TestExtremeInts gives operations the largest and the smallest int. The cases of the operations
// have only integers of 32 bits, so that their published hashes hold on every processor.
func TestExtremeInts(t *testing.T) {
	const n = 5
	matrix, zeros, negative := make([]float64, n*n), make([]float64, n*n), math.MinInt%n
	for i := range matrix {
		matrix[i] = float64(i + 1)
	}
	// rolled is the matrix with its rows moved to the right by a shift that is not negative.
	rolled := func(shift int) []float64 {
		out := make([]float64, n*n)
		for i, v := range matrix {
			out[i/n*n+(i+shift)%n] = v
		}
		return out
	}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			call spec.Call
			want []float64
		}{
			{ops.Roll{Shifts: []int{math.MaxInt}, Dims: []int{1}}, rolled(math.MaxInt % n)},
			{ops.Roll{Shifts: []int{math.MinInt}, Dims: []int{1}}, rolled(negative + n)},
			{ops.Trilu{K: math.MaxInt}, zeros},
			{ops.Trilu{K: math.MinInt}, matrix},
			{ops.Trilu{K: math.MaxInt, Lower: true}, matrix},
			{ops.Trilu{K: math.MinInt, Lower: true}, zeros},
			{ops.Eye{Rows: n, Columns: n, K: math.MaxInt, DType: tensor.F32}, zeros},
			{ops.Eye{Rows: n, Columns: n, K: math.MinInt, DType: tensor.F32}, zeros},
		} {
			var in []*tensor.Host
			if _, made := c.call.(ops.Eye); !made {
				in = []*tensor.Host{host(tensor.F32, []int{n, n}, matrix...)}
			}
			expectCall(t, r, dev, spec.WithDefaults(c.call), in, []*tensor.Host{host(tensor.F32, []int{n, n}, c.want...)})
		}
	})
}
