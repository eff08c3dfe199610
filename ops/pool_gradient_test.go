package ops_test

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPoolGradients compares the gradients of poolings with differences of the poolings, in
// float64.
func TestPoolGradients(t *testing.T) {
	const step = 1e-4
	size := []int{7, 9}
	k, s, p, d := []int{3, 2}, []int{2, 1}, []int{1, 0, 1, 1}, []int{1, 2}
	for _, c := range []struct {
		forward, gradient spec.Call
		both              bool
	}{
		{ops.MaxPool{Kernel: k, Strides: s, Pads: p, Dilations: d}, ops.MaxPoolGrad{Kernel: k, Strides: s, Pads: p, Dilations: d}, true},
		{ops.AvgPool{Kernel: k, Strides: s, Pads: p, Dilations: d, CeilMode: true}, ops.AvgPoolGrad{Size: size, Kernel: k, Strides: s, Pads: p, Dilations: d, CeilMode: true}, false},
		{ops.AvgPool{Kernel: k, Pads: p, CountIncludePad: true}, ops.AvgPoolGrad{Size: size, Kernel: k, Pads: p, CountIncludePad: true}, false},
	} {
		in := tensor.Contiguous(tensor.F64, append([]int{2, 1}, size...)...)
		x, weights := make([]float64, in.Elems()), []float64(nil)
		for i := range x { // Distances between elements are much longer than a step.
			x[i] = math.Sin(float64(7*i*i + 3*i))
		}
		out, err := c.forward.Spec().Shape(c.forward, []tensor.Desc{in})
		if err != nil {
			t.Fatal(err)
		}
		// loss is a weighted sum of the results.
		for i := range out[0].Elems() {
			weights = append(weights, math.Cos(float64(5*i)))
		}
		loss := func() (sum float64) {
			from, to := tensor.NewHost(in), tensor.NewHost(out[0])
			from.SetFloats(x)
			c.forward.Spec().Reference(c.forward, []*tensor.Host{from}, []*tensor.Host{to})
			for i, y := range to.Floats() {
				sum += weights[i] * y
			}
			return sum
		}
		dy, dx, from := tensor.NewHost(out[0]), tensor.NewHost(in), tensor.NewHost(in)
		dy.SetFloats(weights)
		from.SetFloats(x)
		inputs := []*tensor.Host{dy}
		if c.both {
			inputs = []*tensor.Host{from, dy}
		}
		c.gradient.Spec().Reference(c.gradient, inputs, []*tensor.Host{dx})
		for i, got := range dx.Floats() {
			at := x[i]
			x[i] = at + step
			up := loss()
			x[i] = at - step
			down := loss()
			x[i] = at
			if want := (up - down) / (2 * step); math.Abs(got-want) > 1e-7 {
				t.Errorf("%s: element %d: got %g, want %g", c.gradient.Spec().Name, i, got, want)
			}
		}
	}
}
