package ops_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestGridSampleGradients compares the reference of the gradient with what each element alone adds to the result.
func TestGridSampleGradients(t *testing.T) {
	for _, mode := range []string{"linear", "nearest", "cubic"} {
		for _, padding := range []string{"zeros", "border", "reflection"} {
			for _, corners := range []bool{false, true} {
				call := ops.GridSample{Mode: mode, Padding: padding, AlignCorners: corners}
				x, grid := tensor.NewHost(tensor.Contiguous(tensor.F64, 2, 1, 3, 4)), tensor.NewHost(tensor.Contiguous(tensor.F64, 2, 5, 6, 2))
				dy, dx, y := tensor.NewHost(tensor.Contiguous(tensor.F64, 2, 1, 5, 6)), tensor.NewHost(x.Desc), tensor.NewHost(tensor.Contiguous(tensor.F64, 2, 1, 5, 6))
				places, weights := make([]float64, grid.Elems()), make([]float64, dy.Elems())
				for i := range places {
					places[i] = 1.7 * math.Sin(float64(7*i*i+3*i))
				}
				for i := range weights {
					weights[i] = math.Cos(float64(5 * i))
				}
				grid.SetFloats(places)
				dy.SetFloats(weights)
				gradient := ops.GridSampleGrad{Size: []int{3, 4}, Mode: mode, Padding: padding, AlignCorners: corners}
				gradient.Spec().Reference(gradient, []*tensor.Host{dy, grid}, []*tensor.Host{dx})
				for i, got := range dx.Floats() {
					one := make([]float64, x.Elems())
					one[i] = 1
					x.SetFloats(one)
					call.Spec().Reference(call, []*tensor.Host{x, grid}, []*tensor.Host{y})
					want := 0.0
					for k, v := range y.Floats() {
						want += weights[k] * v
					}
					if math.Abs(got-want) > 1e-13 {
						t.Errorf("%+v: element %d: got %g, want %g", call, i, got, want)
					}
				}
			}
		}
	}
}

// TestGridSampleGradPlaces has points that were worked out by hand: several at one element, between two, outside, and
// nowhere.
func TestGridSampleGradPlaces(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	places := host(tensor.F32, []int{1, 8, 1}, -0.75, -0.5, -0.75, nan, 1, inf, -3, 0.75)
	dy := host(tensor.F32, []int{1, 2, 8}, 1, 2, 4, 8, 16, 32, 64, 128, -1, -2, -4, inf, -16, -32, -64, -128)
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			call spec.Call
			want []float64
		}{
			{ops.GridSampleGrad{Size: []int{4}}, []float64{6, 1, 0, 136, -6, -1, 0, -136}},
			{ops.GridSampleGrad{Size: []int{4}, Padding: "border"}, []float64{70, 1, 0, 176, -70, -1, 0, -176}},
			{ops.GridSampleGrad{Size: []int{4}, Mode: "nearest", Padding: "reflection"}, []float64{7, 0, 0, 208, -7, 0, 0, -208}},
		} {
			expectCall(t, r, dev, c.call, []*tensor.Host{dy, places}, []*tensor.Host{host(tensor.F32, []int{1, 2, 4}, c.want...)})
		}
	})
}

// TestGridSampleGradErrors refuses sizes by names that the call has: there is no input x.
func TestGridSampleGradErrors(t *testing.T) {
	in := []tensor.Desc{tensor.Contiguous(tensor.F32, 1, 1, 3, 2), tensor.Contiguous(tensor.F32, 1, 3, 2, 2)}
	for _, size := range [][]int{nil, {3}, {3, 0}, {3, 1 << 30}, {3, 4, 5}} {
		call := ops.GridSampleGrad{Size: size, Mode: "linear", Padding: "zeros"}
		if _, err := call.Spec().Shape(call, in); err == nil || !strings.Contains(err.Error(), "dx") || strings.Contains(err.Error(), "input x") {
			t.Errorf("size %v: got %v, want an error about dx", size, err)
		}
	}
}
