package ops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestResizeExamples compares the reference with numbers that ONNX publishes for Resize.
func TestResizeExamples(t *testing.T) {
	image := []int{2, 3}
	for _, c := range []struct {
		call  ops.ResizeTensor
		shape []int
		size  []int
		want  []float64
	}{
		{ops.ResizeTensor{Axes: []int{3, 2}, Scales: []float64{3, 2}}, []int{1, 1, 2, 2}, []int{1, 1, 4, 6},
			[]float64{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}},
		{ops.ResizeTensor{Axes: image, Sizes: []int{1, 3}, Policy: "not_larger"}, []int{1, 1, 2, 4}, []int{1, 1, 1, 2}, []float64{1, 3}},
		{ops.ResizeTensor{Axes: image, Sizes: []int{1, 3}, Policy: "not_smaller"}, []int{1, 1, 2, 4}, []int{1, 1, 2, 3}, []float64{1, 2, 4, 5, 6, 8}},
		{ops.ResizeTensor{Mode: "linear", Scales: []float64{1, 1, 0.6, 0.6}}, []int{1, 1, 2, 4}, []int{1, 1, 1, 2}, []float64{2.6666665, 4.3333331}},
		{ops.ResizeTensor{Mode: "linear", Coordinates: "align_corners", Scales: []float64{1, 1, 0.6, 0.6}}, []int{1, 1, 2, 4}, []int{1, 1, 1, 2}, []float64{1, 3.142857}},
		{ops.ResizeTensor{Mode: "linear", Coordinates: "half_pixel_symmetric", Scales: []float64{1, 1, 1, 0.6}}, []int{1, 1, 1, 4}, []int{1, 1, 1, 2}, []float64{1.6666667, 3.3333333}},
		{ops.ResizeTensor{Mode: "linear", Antialias: true, Scales: []float64{1, 1, 0.6, 0.6}}, []int{1, 1, 4, 4}, []int{1, 1, 2, 2}, []float64{2.875, 4.5, 9.375, 11}},
		{ops.ResizeTensor{Mode: "cubic", Antialias: true, Scales: []float64{1, 1, 0.6, 0.6}}, []int{1, 1, 4, 4}, []int{1, 1, 2, 2}, []float64{2.5180721, 4.2858863, 9.589329, 11.357142}},
		{ops.ResizeTensor{Mode: "cubic", Antialias: true, Sizes: []int{1, 1, 3, 3}}, []int{1, 1, 4, 4}, []int{1, 1, 3, 3},
			[]float64{1.7750092, 3.1200073, 4.4650054, 7.1550016, 8.5, 9.844998, 12.534994, 13.8799925, 15.224991}},
		{ops.ResizeTensor{Mode: "cubic", CubicCoeffA: -0.5, ExcludeOutside: true, Scales: []float64{1, 1, 0.8, 0.8}}, []int{1, 1, 4, 4}, []int{1, 1, 3, 3},
			[]float64{1.36812675, 2.6695014, 4.0133367, 6.57362535, 7.875, 9.2188353, 11.94896657, 13.25034122, 14.59417652}},
		{ops.ResizeTensor{Mode: "linear", Coordinates: "tf_crop_and_resize", ExtrapolationValue: 10, Sizes: []int{1, 1, 3, 3}, Roi: []float64{0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7}},
			[]int{1, 1, 4, 4}, []int{1, 1, 3, 3}, []float64{7.6, 10, 10, 12.4, 10, 10, 10, 10, 10}},
		// Ties and whole lengths: 0.7 of ten elements are seven, whether the scale was an F32 or not.
		{ops.ResizeTensor{Coordinates: "asymmetric", NearestMode: "floor", Scales: []float64{float64(float32(0.7))}}, []int{10}, []int{7}, []float64{1, 2, 3, 5, 6, 8, 9}},
		{ops.ResizeTensor{Sizes: []int{6}}, []int{18}, []int{6}, []float64{2, 5, 8, 11, 14, 17}},
		{ops.ResizeTensor{Coordinates: "asymmetric", Sizes: []int{4}}, []int{6}, []int{4}, []float64{1, 2, 4, 5}},
		{ops.ResizeTensor{Coordinates: "asymmetric", NearestMode: "round_prefer_ceil", Sizes: []int{4}}, []int{6}, []int{4}, []float64{1, 3, 4, 6}},
	} {
		call := spec.WithDefaults(c.call)
		in := tensor.NewHost(tensor.Contiguous(tensor.F64, c.shape...))
		values := make([]float64, in.Elems())
		for i := range values {
			values[i] = float64(i + 1)
		}
		in.SetFloats(values)
		out, err := call.Spec().Shape(call, []tensor.Desc{in.Desc})
		if err != nil {
			t.Errorf("%+v: %v", c.call, err)
			continue
		}
		if !slices.Equal(out[0].Shape, c.size) {
			t.Errorf("%+v: got shape %v, want %v", c.call, out[0].Shape, c.size)
			continue
		}
		got := tensor.NewHost(out[0])
		call.Spec().Reference(call, []*tensor.Host{in}, []*tensor.Host{got})
		for i, y := range got.Floats() {
			if math.Abs(y-c.want[i]) > 2e-6 {
				t.Errorf("%+v: element %d: got %g, want %g", c.call, i, y, c.want[i])
			}
		}
	}
}

// TestResizeGradients compares the gradients with differences of the results, in float64. Results are linear, so that
// the step need not be small.
func TestResizeGradients(t *testing.T) {
	for _, c := range []ops.ResizeTensor{
		{Mode: "linear", Scales: []float64{1, 2, 1.7}},
		{Mode: "linear", Coordinates: "align_corners", Axes: []int{-1, 1}, Sizes: []int{4, 13}},
		{Mode: "linear", Antialias: true, Axes: []int{1, 2}, Scales: []float64{0.4, 0.3}},
		{Mode: "cubic", Axes: []int{1, 2}, Scales: []float64{1.5, 0.8}},
		{Mode: "cubic", ExcludeOutside: true, Antialias: true, Axes: []int{1, 2}, Scales: []float64{0.5, 2}},
		{Axes: []int{1, 2}, Scales: []float64{0.5, 3}},
		{Mode: "linear", Coordinates: "tf_crop_and_resize", ExtrapolationValue: 3, Axes: []int{1, 2}, Sizes: []int{9, 4}, Roi: []float64{-0.2, 0.9, 0.7, 0.1}},
	} {
		call, in := spec.WithDefaults(c), tensor.Contiguous(tensor.F64, 2, 7, 9)
		gradient := ops.ResizeTensorGrad{
			Size: in.Shape, Mode: call.Mode, Coordinates: call.Coordinates, NearestMode: call.NearestMode, CubicCoeffA: call.CubicCoeffA,
			ExcludeOutside: call.ExcludeOutside, Antialias: call.Antialias, Axes: call.Axes, Policy: call.Policy, Scales: call.Scales, Sizes: call.Sizes, Roi: call.Roi,
			ExtrapolationValue: call.ExtrapolationValue,
		}
		if len(call.Axes) > 0 {
			gradient.Size = nil
			for _, k := range call.Axes {
				gradient.Size = append(gradient.Size, in.Shape[(k+3)%3])
			}
		}
		out, err := call.Spec().Shape(call, []tensor.Desc{in})
		if err != nil {
			t.Fatal(err)
		}
		made, err := gradient.Spec().Shape(gradient, out)
		if err != nil || !slices.Equal(made[0].Shape, in.Shape) {
			t.Fatalf("%+v: got %v and %v, want the shape %v", gradient, made, err, in.Shape)
		}
		x, weights := make([]float64, in.Elems()), make([]float64, out[0].Elems())
		for i := range x {
			x[i] = math.Sin(float64(7*i*i + 3*i))
		}
		for i := range weights {
			weights[i] = math.Cos(float64(5 * i))
		}
		loss := func() (sum float64) {
			from, to := tensor.NewHost(in), tensor.NewHost(out[0])
			from.SetFloats(x)
			call.Spec().Reference(call, []*tensor.Host{from}, []*tensor.Host{to})
			for i, y := range to.Floats() {
				sum += weights[i] * y
			}
			return sum
		}
		dy, dx := tensor.NewHost(out[0]), tensor.NewHost(in)
		dy.SetFloats(weights)
		gradient.Spec().Reference(gradient, []*tensor.Host{dy}, []*tensor.Host{dx})
		for i, got := range dx.Floats() {
			at := x[i]
			x[i] = at + 0.5
			up := loss()
			x[i] = at - 0.5
			down := loss()
			x[i] = at
			if want := up - down; math.Abs(got-want) > 1e-10 {
				t.Errorf("%+v: element %d: got %g, want %g", c, i, got, want)
			}
		}
	}
}
