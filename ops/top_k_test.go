package ops_test

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestTopOfEqual selects from rows of several chunks whose elements are nearly all equal, or have the largest key there
// is: positions decide, and lists of short chunks end with no keys.
func TestTopOfEqual(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, k := range []int{1, 4, 5, 16, 17, 40, 64} {
			for _, n := range []int{130, 1030} {
				positions := make([]float64, k)
				for i := range positions {
					positions[i] = float64(i)
				}
				// The least I32 has the largest key if the largest elements come first, and NaN if the smallest do.
				for _, all := range []struct {
					d        tensor.DType
					v        float64
					smallest bool
				}{{tensor.I32, math.MinInt32, false}, {tensor.F32, math.NaN(), true}, {tensor.F16, 7, false}, {tensor.I64, 0, true}, {tensor.F64, math.NaN(), true}} {
					row := repeated(n, all.v)
					expectCall(t, r, dev, ops.TopK{K: k, Axis: 0, Smallest: all.smallest}, []*tensor.Host{host(all.d, []int{n}, row...)},
						[]*tensor.Host{host(all.d, []int{k}, row[:k]...), host(tensor.I32, []int{k}, positions...)})
				}
				// The last three elements of the row come first, the last one before the other two, which are equal. Both
				// zeros are equal.
				row := repeated(n, 0)
				for i := range row {
					row[i] = math.Copysign(0, float64(i%2)-1)
				}
				row[n-1], row[n-2], row[n-3] = math.NaN(), 2, 2
				first := append([]float64{float64(n - 1), float64(n - 3), float64(n - 2)}, positions...)[:k]
				values := make([]float64, k)
				for i, at := range first {
					values[i] = row[int(at)]
				}
				for _, d := range []tensor.DType{tensor.F32, tensor.BF16, tensor.F64} {
					expectCall(t, r, dev, ops.TopK{K: k, Axis: 0}, []*tensor.Host{host(d, []int{n}, row...)},
						[]*tensor.Host{host(d, []int{k}, values...), host(tensor.I32, []int{k}, first...)})
				}
			}
		}
	})
}
