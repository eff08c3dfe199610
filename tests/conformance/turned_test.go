package conformance_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestTransposedProducts multiplies matrices that are transposed in memory, which CPU drivers read in place, and contiguous copies of
// them. Both must give the same bits. What lies between the rows in memory is NaN.
func TestTransposedProducts(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		info := dev.Info()
		target := exec.TargetOf(info)
		turned := func(in ...tensor.Desc) bool {
			call := ops.MatMul{}
			out, err := call.Spec().Shape(call, in)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := call.Spec().Plan(call, &target, in, out)
			if err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(plan.Steps, func(s spec.Step) bool { return strings.Contains(s.Name(), ".turned") })
		}
		testkit.Ability(t, turned(tensor.Desc{DType: tensor.F32, Shape: []int{64, 64}, Strides: []int{1, 64}}, tensor.Contiguous(tensor.F32, 64, 64)), info.Name, "kernels that read transposed matrices from texel buffers")
		d := front(t, lathe.WithBackend(info.Backend), lathe.WithDevice(info.UUID.String()))
		rng := rand.New(rand.NewPCG(5, 9))
		values := func(rows, cols, wide int) []float64 {
			v := make([]float64, rows*wide)
			for i := range v {
				if v[i] = rng.Float64()*2 - 1; i%wide >= cols {
					v[i] = math.NaN()
				}
			}
			return v
		}
		for _, dtype := range []tensor.DType{tensor.F32, tensor.F64} {
			if dtype == tensor.F64 && !info.Features.F64 {
				continue
			}
			for _, c := range [][5]int{ // the batch, m, n, k, and from column to column of the first operand
				{1, 8, 12, 4, 8}, {1, 30, 36, 44, 32}, {3, 33, 20, 8, 36}, {1, 131, 68, 260, 132}, {1, 77, 33, 1000, 80}, {2, 50, 132, 400, 52},
				{1, 16, 16, 8192, 16}, {1, 34, 132, 1028, 36}, {1, 9, 12, 9, 12},
			} {
				batch, m, n, k, wide := c[0], c[1], c[2], c[3], c[4]
				what := fmt.Sprintf("%v of %v", c, dtype)
				a, err := lathe.FromFloats(t.Context(), d, dtype, values(batch*k, m, wide), batch, k, wide)
				if err != nil {
					t.Fatal(err)
				}
				b, err := lathe.FromFloats(t.Context(), d, dtype, values(batch*k, n, n), batch, k, n)
				if err != nil {
					t.Fatal(err)
				}
				if a, err = a.Narrow(2, 0, m); err == nil {
					a, err = a.Transpose(0, 2, 1)
				}
				if err != nil {
					t.Fatal(err)
				}
				product := func(a *lathe.Tensor, err error) []float64 {
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					out, err := d.MatMul(a, b)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					list, err := lathe.ToFloats[float64](t.Context(), out)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					return list
				}
				got, want := product(a, nil), product(d.Copy(a))
				if i := slices.IndexFunc(want, math.IsNaN); i >= 0 {
					t.Errorf("%s: element %d is NaN", what, i)
				}
				for i := range want {
					if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
						t.Errorf("%s: element %d is %v, by a contiguous copy %v", what, i, got[i], want[i])
						break
					}
				}
			}
		}
	})
}
