package ops_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestTriangularUnread puts NaN where a solution and a product must not look: in the other triangle, and on a diagonal that counts as
// ones. The matrices have integers, so that results are exact.
func TestTriangularUnread(t *testing.T) {
	const n, m = 71, 5
	rng := rand.New(rand.NewPCG(3, 4))
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for form := range 16 {
			call := ops.TriangularSolve{Alpha: 2, Right: form&1 != 0, Upper: form&2 != 0, Trans: form&4 != 0, UnitDiagonal: form&8 != 0}
			// a has few elements beside the diagonal, so that solutions stay small.
			a, x := make([]float64, n*n), make([]float64, n*m)
			for i := range n {
				for j := range n {
					switch v := &a[i*n+j]; {
					case i == j && call.UnitDiagonal, i < j != call.Upper && i != j:
						*v = math.NaN()
					case i == j:
						*v = []float64{1, -1, 2, 4}[rng.IntN(4)]
					case rng.IntN(16) == 0:
						*v = float64(rng.IntN(3) - 1)
					}
				}
			}
			for i := range x {
				x[i] = float64(rng.IntN(9) - 4)
			}
			// at is an element of op(a).
			at := func(i, j int) float64 {
				if call.Trans {
					i, j = j, i
				}
				switch v := a[i*n+j]; {
				case i == j && call.UnitDiagonal:
					return 1
				case i != j && i < j != call.Upper:
					return 0
				default:
					return v
				}
			}
			b, shape := make([]float64, n*m), []int{n, m}
			if call.Right {
				shape = []int{m, n}
			}
			for i := range n {
				for c := range m {
					for j := range n {
						if call.Right {
							b[c*n+i] += x[c*n+j] * at(j, i) / call.Alpha
						} else {
							b[i*m+c] += at(i, j) * x[j*m+c] / call.Alpha
						}
					}
				}
			}
			product, multiply := make([]float64, n*m), ops.TriangularMultiply(call)
			for i, v := range b {
				product[i] = call.Alpha * call.Alpha * v
			}
			for _, d := range []tensor.DType{tensor.F32, tensor.F64} {
				expectCall(t, r, dev, multiply, []*tensor.Host{host(d, []int{n, n}, a...), host(d, shape, x...)}, []*tensor.Host{host(d, shape, product...)})
				expectCall(t, r, dev, call, []*tensor.Host{host(d, []int{n, n}, a...), host(d, shape, b...)}, []*tensor.Host{host(d, shape, x...)})
			}
			if t.Failed() {
				t.Fatalf("%+v", call)
			}
		}
		// Neither is read if α is 0, and a zero on the diagonal divides.
		nan, inf := math.NaN(), math.Inf(1)
		f := func(v ...float64) *tensor.Host { return host(tensor.F32, []int{len(v), 1}, v...) }
		expectCall(t, r, dev, ops.TriangularSolve{Alpha: math.Copysign(0, -1)}, []*tensor.Host{host(tensor.F32, []int{1, 1}, nan), f(nan)}, []*tensor.Host{f(0)})
		expectCall(t, r, dev, ops.TriangularMultiply{Alpha: math.Copysign(0, -1)}, []*tensor.Host{host(tensor.F32, []int{1, 1}, nan), f(nan)}, []*tensor.Host{f(0)})
		expectCall(t, r, dev, ops.TriangularSolve{Alpha: 1}, []*tensor.Host{host(tensor.F32, []int{2, 2}, 0, nan, 1, 1), f(3, 4)}, []*tensor.Host{f(inf, -inf)})
	})
}

// TestTriangularMultiplySpreads puts NaN in b: it reaches those rows of the product that use it, and no others of its block.
func TestTriangularMultiplySpreads(t *testing.T) {
	const n, at = 70, 37
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, upper := range []bool{false, true} {
			a, b, want := make([]float64, n*n), make([]float64, n), make([]float64, n)
			for i := range a {
				a[i] = 1
			}
			for i := range b {
				b[i], want[i] = 1, float64(i+1)
				if upper {
					want[i] = float64(n - i)
				}
				if i == at || i > at != upper {
					want[i] = math.NaN()
				}
			}
			b[at] = math.NaN()
			for _, d := range []tensor.DType{tensor.F32, tensor.F64} {
				expectCall(t, r, dev, ops.TriangularMultiply{Alpha: 1, Upper: upper}, []*tensor.Host{host(d, []int{n, n}, a...), host(d, []int{n, 1}, b...)}, []*tensor.Host{host(d, []int{n, 1}, want...)})
			}
		}
	})
}
