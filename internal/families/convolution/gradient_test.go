package convolution_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestGradientsAreDifferences compares the references of the gradients with finite differences of
// that of conv, in float64: the derivative of Σ y·dy. conv is linear in x and in w, so central
// differences are exact but for rounding. Without pads, the transposed convolution is the
// input gradient.
func TestGradientsAreDifferences(t *testing.T) {
	for _, c := range []struct {
		conv ops.Conv
		x, w []int
	}{
		{ops.Conv{Group: 1, AutoPad: "NOTSET"}, []int{2, 3, 7}, []int{2, 3, 3}},
		{ops.Conv{Group: 2, AutoPad: "NOTSET", Strides: []int{2, 3}, Pads: []int{0, 2, 1, 3}, Dilations: []int{1, 2}}, []int{2, 4, 6, 9}, []int{4, 2, 2, 3}},
		{ops.Conv{Group: 3, AutoPad: "NOTSET", Strides: []int{2, 1, 2}, Pads: []int{1, 0, 1, 0, 1, 1}}, []int{1, 3, 4, 3, 5}, []int{3, 1, 2, 1, 3}},
	} {
		x, w := random(c.x...), random(c.w...)
		y := run(t, c.conv, x, w)
		dy := random(y.Shape...)
		loss := func() float64 {
			sum, d := 0.0, dy.Floats()
			for i, v := range run(t, c.conv, x, w).Floats() {
				sum += v * d[i]
			}
			return sum
		}
		dx := run(t, ops.ConvInputGrad{Size: c.x[2:], Strides: c.conv.Strides, Pads: c.conv.Pads, Dilations: c.conv.Dilations, Group: c.conv.Group}, dy, w)
		dw := run(t, ops.ConvFilterGrad{KernelShape: c.w[2:], Strides: c.conv.Strides, Pads: c.conv.Pads, Dilations: c.conv.Dilations, Group: c.conv.Group}, x, dy)
		up := run(t, ops.ConvTranspose{AutoPad: "NOTSET", OutputShape: transposedShape(c.conv, y.Shape, c.w), Strides: c.conv.Strides, Dilations: c.conv.Dilations, Group: c.conv.Group}, dy, w)
		if up.Shape[1] != c.x[1] {
			t.Errorf("%v: the transposed convolution has %d channels (want %d)", c.conv, up.Shape[1], c.x[1])
		}
		if c.conv.Pads == nil { // What pads leave out of the result has a gradient too.
			for i, v := range up.Floats() {
				if d := dx.Floats()[i]; math.Abs(v-d) > 1e-12 {
					t.Fatalf("%v: element %d of the transposed convolution is %v, and of the gradient %v", c.conv, i, v, d)
				}
			}
		}
		for _, g := range []struct {
			name     string
			of, made *tensor.Host
		}{{"dx", x, dx}, {"dw", w, dw}} {
			values := g.of.Floats()
			for i, got := range g.made.Floats() {
				at := func(v float64) float64 {
					old := values[i]
					values[i] = v
					g.of.SetFloats(values)
					l := loss()
					values[i] = old
					g.of.SetFloats(values)
					return l
				}
				const h = 0.5
				want := (at(values[i]+h) - at(values[i]-h)) / (2 * h)
				if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
					t.Fatalf("%v: %s[%d] is %v (want %v)", c.conv, g.name, i, got, want)
				}
			}
		}
	}
}

// transposedShape is the size that a transposed convolution has without pads.
func transposedShape(c ops.Conv, y, w []int) []int {
	shape := make([]int, len(y)-2)
	for i := range shape {
		s, d := 1, 1
		if c.Strides != nil {
			s = c.Strides[i]
		}
		if c.Dilations != nil {
			d = c.Dilations[i]
		}
		shape[i] = (y[i+2]-1)*s + (w[i+2]-1)*d + 1
	}
	return shape
}

// random returns a F64 tensor of numbers between -1 and 1.
func random(shape ...int) *tensor.Host {
	h := tensor.NewHost(tensor.Contiguous(tensor.F64, shape...))
	r, values := rand.New(rand.NewPCG(1, 2)), make([]float64, h.Elems())
	for i := range values {
		values[i] = 2*r.Float64() - 1
	}
	h.SetFloats(values)
	return h
}

// run returns the reference's result of a call.
func run(t *testing.T, c spec.Call, in ...*tensor.Host) *tensor.Host {
	t.Helper()
	var ds []tensor.Desc
	for _, h := range in {
		ds = append(ds, h.Desc)
	}
	out, err := c.Spec().Shape(c, ds)
	if err != nil {
		t.Fatal(err)
	}
	h := tensor.NewHost(out[0])
	c.Spec().Reference(c, in, []*tensor.Host{h})
	return h
}
