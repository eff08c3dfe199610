package ops_test

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPowSpecials takes powers that are 0, 1, infinite or NaN by the rules of C99, annex F.9.4.4.
// Signs of zeros count.
func TestPowSpecials(t *testing.T) {
	inf := math.Inf(1)
	values := []float64{0, 1, 2, 3, 0.5, 1.5, 127, 127.5, 1e30, 1 << 23, 1<<23 + 1, 1<<24 - 1, 1 << 24, math.MaxFloat32, inf, 1 + 0x1p-23, 1 - 0x1p-24, 0x1p-126, math.NaN()}
	for _, v := range values {
		values = append(values, -v)
	}
	var all, numbers [3][]float64
	for _, x := range values {
		for _, y := range values {
			w := float64(float32(math.Pow(x, y)))
			if a := math.Abs(w); a != 0 && a != 1 && !math.IsInf(w, 0) && !math.IsNaN(w) {
				continue
			}
			if math.Abs(math.Pow(x, y)) != math.Abs(w) && math.Abs(y) < 1e9 {
				continue // near the ends of the range, where the error of a result decides
			}
			for i, v := range []float64{x, y, w} {
				all[i] = append(all[i], v)
				if !math.IsNaN(w) {
					numbers[i] = append(numbers[i], v)
				}
			}
		}
	}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		n, m := []int{len(all[0])}, []int{len(numbers[0])}
		expectCall(t, r, dev, ops.Pow{}, []*tensor.Host{host(tensor.F32, n, all[0]...), host(tensor.F32, n, all[1]...)}, []*tensor.Host{host(tensor.F32, n, all[2]...)})
		expectBits(t, r, dev, ops.Pow{}, []*tensor.Host{host(tensor.F32, m, numbers[0]...), host(tensor.F32, m, numbers[1]...)}, host(tensor.F32, m, numbers[2]...))
	})
}
